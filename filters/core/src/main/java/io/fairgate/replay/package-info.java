/**
 * What the tenants of a pool would have got under other settings: the requests of the latest minutes are recorded, and replayed
 * through the same scheduler in virtual time.
 *
 * <ul>
 *   <li>{@link io.fairgate.replay.Recording} is a listener of a pool. It keeps the latest {@link io.fairgate.replay.Visit visits}: one
 *       for each request, with the time at which it asked, its wait and its hold.
 *   <li>{@link io.fairgate.replay.Clients} makes the behaviour of the clients from them, as {@link io.fairgate.replay.Session
 *       sessions}. A client that sends its next request when it has its answer sends more requests when it is served sooner. Replayed
 *       at the times at which its requests came, it would never get more than it got. {@link io.fairgate.replay.ClosedLoop} tells such
 *       clients from requests that come by themselves.
 *   <li>{@link io.fairgate.replay.Replay} has the sessions ask an {@link io.fairgate.permit.embedded.EmbeddedPermitPool} in
 *       {@link io.fairgate.replay.VirtualTime}.
 *   <li>{@link io.fairgate.replay.Tally} sums up what each tenant got: of the visits, and of a replay.
 * </ul>
 *
 * <p><b>What is assumed.</b> A request is held for as long as it was, however many others the upstream works on. A request that was
 * never granted is held for as long as others of its tenant and class. Clients go on as they did, for as long as they did. The
 * accounts of the scheduler begin equal.
 */
@NullMarked
package io.fairgate.replay;

import org.jspecify.annotations.NullMarked;
