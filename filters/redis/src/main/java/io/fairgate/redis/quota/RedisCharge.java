package io.fairgate.redis.quota;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A charge in Redis. If it is settled before its answer comes, it is given back when the answer comes. Its state is guarded by the lock of
 * this object; callers are called outside of it.
 */
final class RedisCharge implements QuotaCharge {

    private enum State {
        OPEN,
        /** Sent, or about to be sent; without an answer. */
        ASKED,
        CHARGED,
        SETTLED
    }

    private final RedisQuotas backend;
    private final QuotaSet quotas;
    private final long units;
    /** Completes when a charge that was settled before its answer has been given back, or was not made. */
    private final Sinks.Empty<Void> givenBack = Sinks.empty();

    private State state = State.OPEN;
    /** The decision of the charge that was asked for last. */
    private Sinks.One<QuotaDecision> decided = Sinks.one();
    /** What was charged, in the order of {@link KeyedQuotas}. */
    private List<QuotaLeft> charged = List.of();

    RedisCharge(RedisQuotas backend, QuotaSet quotas, long units) {
        this.backend = backend;
        this.quotas = quotas;
        this.units = units;
    }

    @Override
    public QuotaSet quotas() {
        return quotas;
    }

    @Override
    public long units() {
        return units;
    }

    @Override
    public boolean isCharged() {
        return is(State.CHARGED);
    }

    private synchronized boolean is(State asked) {
        return state == asked;
    }

    @Override
    public Mono<QuotaDecision> charge() {
        return quotas.isEmpty() ? Mono.just(QuotaDecision.UNLIMITED) : Mono.defer(this::chargeOnce);
    }

    private Mono<QuotaDecision> chargeOnce() {
        Charge call;
        synchronized (this) {
            if (state == State.ASKED) {
                return decided.asMono();
            } else if (state != State.OPEN) {
                return backend.check(quotas, units);
            }
            state = State.ASKED;
            decided = Sinks.one();
            call = new Charge(backend.keyed(quotas), units, decided);
        }
        backend.calls.submit(call);
        return call.result.asMono();
    }

    private final class Charge extends QuotaCall {

        private final Sinks.One<QuotaDecision> result;

        Charge(KeyedQuotas keyed, long units, Sinks.One<QuotaDecision> result) {
            super(What.CHARGE, keyed, units);
            this.result = result;
        }

        @Override
        void sending() {
            if (is(State.SETTLED)) {
                what = What.CHECK;
            }
        }

        @Override
        void answered(QuotaAnswer answer) {
            if (answer.outcome() == Outcome.UNREADABLE) {
                end(keyed.unreadable(), false, QuotaOutagePolicy.FAIL_CLOSED);
                return;
            }
            boolean isCharged = what == What.CHARGE
                    && (answer.outcome() == Outcome.PASSED || answer.outcome() == Outcome.PASSED_BUT);
            if (answeredTooLate(isCharged ? State.CHARGED : State.OPEN, answer.balances())) {
                giveBack(isCharged ? answer.balances() : List.of());
            }
            if (answer.outcome() != Outcome.NOTHING) {
                QuotaDecision made = keyed.decision(answer);
                keyed.set.note(made);
                result.tryEmitValue(made);
            }
        }

        /** Returns whether the charge was settled before. */
        private boolean answeredTooLate(State next, List<QuotaLeft> balances) {
            synchronized (RedisCharge.this) {
                if (state == State.SETTLED) {
                    return true;
                }
                state = next;
                charged = balances;
                return false;
            }
        }

        private void giveBack(List<QuotaLeft> balances) {
            if (balances.isEmpty()) {
                givenBack.tryEmitEmpty();
            } else {
                backend.calls.submit(new Settlement(keyed, balances, -amount, givenBack));
            }
        }

        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {
            end(why, isSent, isOutage ? backend.outagePolicy : QuotaOutagePolicy.FAIL_CLOSED);
        }

        /** A request that passes without a charge is not charged later, even if Redis has made the charge. */
        private void end(Throwable why, boolean isSent, QuotaOutagePolicy outagePolicy) {
            boolean isSettled;
            synchronized (RedisCharge.this) {
                isSettled = state == State.SETTLED;
                if (state == State.ASKED && !isSent) {
                    state = State.OPEN;
                } else if (state == State.ASKED && keyed.letsPass(outagePolicy)) {
                    state = State.SETTLED;
                }
            }
            if (isSettled && !isSent) {
                givenBack.tryEmitEmpty();
            }
            keyed.withoutAnswer(why, outagePolicy, !isSettled, result);
        }
    }

    /** Bounded, so that the sum of a balance and a debt stays far below the largest number that Lua computes exactly. */
    @Override
    public Mono<Void> settle(long actual) {
        return Mono.defer(() -> {
            if (actual < 0) {
                throw new IllegalArgumentException("actual: %d (expected: >= 0)".formatted(actual));
            }
            long more = Math.min(actual, 2 * Quota.MAX_LIMIT) - Math.min(units, 2 * Quota.MAX_LIMIT);
            Settlement call;
            synchronized (this) {
                State before = state;
                state = State.SETTLED;
                if (before == State.ASKED) {
                    return givenBack.asMono();
                } else if (before != State.CHARGED || more == 0) {
                    return Mono.empty();
                }
                call = new Settlement(backend.keyed(quotas), charged, more, Sinks.empty());
            }
            backend.calls.submit(call);
            return call.done.asMono();
        });
    }

    private static final class Settlement extends QuotaCall {

        private final List<QuotaLeft> charged;
        private final Sinks.Empty<Void> done;

        Settlement(KeyedQuotas keyed, List<QuotaLeft> charged, long more, Sinks.Empty<Void> done) {
            super(What.SETTLE, keyed, more);
            this.charged = charged;
            this.done = done;
        }

        @Override
        String mark(int quota) {
            return quota < charged.size() ? charged.get(quota).mark() : "";
        }

        @Override
        void answered(QuotaAnswer answer) {
            done.tryEmitEmpty();
        }

        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {
            done.tryEmitError(why);
        }
    }
}
