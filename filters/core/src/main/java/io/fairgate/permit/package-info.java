/**
 * Pools of permits: a request waits, without a thread, until it is its tenant's turn, runs, and gives its permits back.
 *
 * <p>Start at {@link io.fairgate.permit.PermitPool}. One request's way through
 * {@link io.fairgate.permit.embedded.EmbeddedPermitPool}: {@code PermitWaiter} is subscriber, claim and state machine in one; the
 * pool's drain loop tells the {@link io.fairgate.fairness.FairScheduler} what happened and collects its grants; the
 * dispatch loop hands each granted waiter to its own executor, where the work is subscribed.
 */
@NullMarked
package io.fairgate.permit;

import org.jspecify.annotations.NullMarked;
