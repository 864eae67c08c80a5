/**
 * The wire protocol of pacman82/throttle 0.5, for its existing clients: {@link
 * io.fairgate.gateway.throttle.ThrottleProtocol} has the routes, {@link io.fairgate.gateway.throttle.Peers} and
 * {@link io.fairgate.gateway.throttle.Locks} the operations.
 *
 * <p>These words of the protocol are used only here: a <b>semaphore</b> is a pool, as clients see it; a <b>peer</b> is a
 * holder, and is a lease; a <b>lock</b> is a count of permits of one semaphore that a peer holds, or waits for
 * (<b>pending</b>); the <b>level</b> of a semaphore determines in which order its locks may be taken.
 */
@NullMarked
package io.fairgate.gateway.throttle;

import org.jspecify.annotations.NullMarked;
