/**
 * Quotas whose balances are in Redis, so that several gateways charge the same ones.
 *
 * <p><b>Decisions</b> are made by a script in Redis ({@code quotas.lua}), by the rules of
 * {@link io.fairgate.quota.embedded}: of all quotas of a request all are charged, or none. All gateways together admit not one unit too
 * many.
 *
 * <p><b>Ahead.</b> A gateway charges what the requests of a second use before they ask for it, as far as much is left of each quota
 * ({@link PrepaidUnits}), and decides about them by itself. Other requests cost one round trip each.
 *
 * <p><b>Batches.</b> A gateway has one batch of calls on its way at most. Calls that come meanwhile go with the next batch, so under load
 * one round trip serves many of them.
 *
 * <p><b>Once.</b> Batches are numbered, and Redis keeps the answer to a gateway's last batch. A batch that is not answered is sent again
 * for half an hour, under the same number, and never has an effect twice. So a gateway learns what has become of each
 * charge, and gives back what was charged for a request that has been refused meanwhile.
 *
 * <p><b>Clocks.</b> Only the clock of Redis counts. The gateway computes calendar windows for the time that Redis has, and Redis answers
 * a call with another window by its time.
 */
@NullMarked
package io.fairgate.redis.quota;

import org.jspecify.annotations.NullMarked;
