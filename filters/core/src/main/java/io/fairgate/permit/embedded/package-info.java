/**
 * Pools in the memory of one process. The way of a request through
 * {@link io.fairgate.permit.embedded.EmbeddedPermitPool}:
 *
 * <ol>
 *   <li>{@code Waiter}: the request with its one {@code State}. What it does with its permits is its {@code Acquisition}.
 *   <li>{@code FastPath}: while no request waits, it takes a free permit from one of the {@code Slots}.
 *   <li>{@code Drain}: otherwise one thread at a time ({@code CommandLoop}) passes it to the {@code RequestQueue}, which asks
 *       the {@link io.fairgate.fairness.FairScheduler} which request is next. {@code Deadlines} ends waits and holds.
 *   <li>{@code Dispatcher}: resumes it on its event loop, where the work is subscribed or the handle is handed over.
 * </ol>
 *
 * <p>Where several processes share the permits of one pool, {@code PoolSlice} tells it how many of them this process may grant,
 * and until when.
 */
@NullMarked
package io.fairgate.permit.embedded;

import org.jspecify.annotations.NullMarked;
