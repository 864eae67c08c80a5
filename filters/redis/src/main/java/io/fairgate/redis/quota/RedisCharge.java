package io.fairgate.redis.quota;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;
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
    /** Of what was charged, in the order of {@link KeyedQuotas}. */
    private List<String> marks = List.of();
    /** Whose units were used; null when the request was charged by itself. */
    private @Nullable Chunk chunk;

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
        PrepaidUnits prepaid = backend.prepaid(quotas);
        Mono<QuotaDecision> decision;
        Charge call = null;
        synchronized (this) {
            if (state == State.ASKED) {
                return decided.asMono();
            } else if (state != State.OPEN) {
                return backend.check(quotas, units);
            }
            prepaid.asked(units);
            QuotaDecision passed = take(prepaid);
            if (passed == null) {
                state = State.ASKED;
                decided = Sinks.one();
                call = new Charge(prepaid, decided);
                decision = decided.asMono();
            } else {
                decision = Mono.just(passed);
            }
        }
        if (call != null) {
            backend.calls.submit(call);
        }
        prepaid.tend();
        return decision;
    }

    /** Uses units that are charged already; called under the lock. Null when there are not so many. */
    private @Nullable QuotaDecision take(PrepaidUnits prepaid) {
        Chunk taken = prepaid.take(units);
        if (taken == null) {
            return null;
        }
        state = State.CHARGED;
        chunk = taken;
        return prepaid.keyed.noted(taken.decision());
    }

    private final class Charge extends QuotaCall {

        private final PrepaidUnits prepaid;
        private final Sinks.One<QuotaDecision> result;

        Charge(PrepaidUnits prepaid, Sinks.One<QuotaDecision> result) {
            super(What.CHARGE, prepaid.keyed, units);
            this.prepaid = prepaid;
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
            if (answer.outcome() == Outcome.REFUSED && passesNevertheless()) {
                return;
            }
            boolean isCharged = what == What.CHARGE
                    && (answer.outcome() == Outcome.PASSED || answer.outcome() == Outcome.PASSED_BUT);
            if (answeredTooLate(isCharged ? State.CHARGED : State.OPEN, answer.marks())) {
                giveBack(isCharged ? answer.marks() : List.of());
            }
            if (answer.outcome() != Outcome.NOTHING) {
                result.tryEmitValue(keyed.noted(keyed.decision(answer)));
            }
        }

        /** What is left may be units that this gateway has charged meanwhile, for requests like this one. */
        private boolean passesNevertheless() {
            QuotaDecision passed;
            synchronized (RedisCharge.this) {
                passed = state == State.ASKED ? take(prepaid) : null;
            }
            if (passed != null) {
                result.tryEmitValue(passed);
                prepaid.tend();
            }
            return passed != null;
        }

        /** Returns whether the charge was settled before. */
        private boolean answeredTooLate(State next, List<String> nextMarks) {
            synchronized (RedisCharge.this) {
                if (state == State.SETTLED) {
                    return true;
                }
                state = next;
                marks = nextMarks;
                return false;
            }
        }

        private void giveBack(List<String> chargedMarks) {
            if (chargedMarks.isEmpty()) {
                givenBack.tryEmitEmpty();
            } else {
                backend.calls.submit(new Settlement(keyed, chargedMarks, -amount, givenBack));
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
            synchronized (this) {
                State before = state;
                state = State.SETTLED;
                if (before == State.ASKED) {
                    return givenBack.asMono();
                } else if (before != State.CHARGED || more == 0) {
                    return Mono.empty();
                }
            }
            return chunk != null ? chunk.settle(more) : backend.prepaid(quotas).settle(marks, more);
        });
    }
}
