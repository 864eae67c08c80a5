package io.fairgate.redis.quota;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
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

    private State state = State.OPEN;
    /** The decision of the charge that was asked for last. */
    private Sinks.One<QuotaDecision> decision = Sinks.one();
    /** What was charged, in the order of {@link KeyedQuotas}. */
    private List<QuotaLeft> charged = List.of();

    private @Nullable KeyedQuotas keyed;

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
    public synchronized boolean isCharged() {
        return state == State.CHARGED;
    }

    @Override
    public Mono<QuotaDecision> charge() {
        return quotas.isEmpty() ? Mono.just(QuotaDecision.UNLIMITED) : Mono.defer(this::chargeOnce);
    }

    private Mono<QuotaDecision> chargeOnce() {
        Charge call;
        synchronized (this) {
            if (state == State.ASKED) {
                return decision.asMono();
            } else if (state != State.OPEN) {
                return backend.check(quotas, units);
            }
            state = State.ASKED;
            decision = Sinks.one();
            keyed = backend.keyed(quotas);
            call = new Charge(keyed, decision);
        }
        backend.calls.submit(call);
        return call.decided.asMono();
    }

    private final class Charge extends QuotaCall {

        private final Sinks.One<QuotaDecision> decided;

        Charge(KeyedQuotas keyed, Sinks.One<QuotaDecision> decided) {
            super(What.CHARGE, keyed, RedisCharge.this.units);
            this.decided = decided;
        }

        @Override
        void answered(QuotaAnswer answer) {
            boolean isCharged = answer.outcome() != Outcome.REFUSED;
            boolean isSettled;
            synchronized (RedisCharge.this) {
                isSettled = state == State.SETTLED;
                charged = answer.balances();
                if (!isSettled) {
                    state = isCharged ? State.CHARGED : State.OPEN;
                }
            }
            if (isSettled && isCharged) {
                backend.calls.submit(new Settlement(quotas, answer.balances(), -units, Sinks.empty()));
            }
            QuotaDecision made = quotas.decision(answer);
            RedisCharge.this.quotas.note(made);
            decided.tryEmitValue(made);
        }

        @Override
        void failed(Throwable why, boolean isSent) {
            synchronized (RedisCharge.this) {
                if (state == State.ASKED && !isSent) {
                    state = State.OPEN;
                }
            }
            decided.tryEmitError(why);
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
                if (before != State.CHARGED || more == 0 || keyed == null) {
                    return Mono.empty();
                }
                call = new Settlement(keyed, charged, more, Sinks.empty());
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
        void failed(Throwable why, boolean isSent) {
            done.tryEmitError(why);
        }
    }
}
