/**
 * Pools of permits: a request waits for its permits without blocking a thread, runs, and gives them back.
 *
 * <p>Start at {@link io.fairgate.permit.PermitPool}. The path of a request through
 * {@link io.fairgate.permit.embedded.EmbeddedPermitPool}: {@code PermitWaiter} is subscriber, claim and state machine in one;
 * the drain loop of the pool passes changes to the {@link io.fairgate.fairness.FairScheduler} and takes its grants; the
 * dispatch loop resumes each granted waiter on its own event loop, where the work is subscribed.
 */
@NullMarked
package io.fairgate.permit;

import org.jspecify.annotations.NullMarked;
