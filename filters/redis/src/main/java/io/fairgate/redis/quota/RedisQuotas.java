package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.time.MonotonicScheduler;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * Quotas whose balances are in Redis: all processes on the same Redis charge the same ones. The rules are those of
 * {@link io.fairgate.quota.embedded.EmbeddedQuotas}, with microseconds in the place of nanoseconds, and with the clock of Redis. All
 * processes together admit not one unit more than a quota allows.
 *
 * <p>Each decision waits for one round trip to Redis, or for two while another one is on its way. Answers come on the thread of the
 * connection. Without an answer, calls error with {@link io.fairgate.quota.QuotasUnavailableException} after
 * {@link QuotaCalls#PATIENCE}, and at once until Redis answers again. Settlements are made then.
 *
 * <p>Balances end by themselves when nothing of them is used any more; those of totals stay. What Redis loses is unused again.
 */
public final class RedisQuotas implements Quotas, AutoCloseable {

    final QuotaCalls calls;

    /** Quotas in Redis, which connects. */
    public static RedisQuotas start(RedisConnections redis) {
        RedisQuotas quotas = new RedisQuotas(
                new RedisQuotaLedger(redis, MonotonicScheduler.INSTANCE, InstantSource.system()),
                MonotonicScheduler.INSTANCE,
                UUID.randomUUID().toString());
        quotas.calls.start();
        return quotas;
    }

    /**
     * Sends nothing yet.
     *
     * @param gateway a name that no other gateway has or had
     */
    RedisQuotas(QuotaLedger ledger, Scheduler time, String gateway) {
        this.calls = new QuotaCalls(ledger, time, gateway);
    }

    @Override
    public Mono<QuotaDecision> check(QuotaSet quotas, long units) {
        requireUnits(units);
        return quotas.isEmpty()
                ? Mono.just(QuotaDecision.UNLIMITED)
                : ask(QuotaCall.What.CHECK, quotas, units, keyed -> answer -> {
                    QuotaDecision decision = keyed.decision(answer);
                    quotas.note(decision);
                    return decision;
                });
    }

    @Override
    public Mono<List<Balance>> balances(QuotaSet quotas) {
        return quotas.isEmpty()
                ? Mono.just(List.of())
                : ask(QuotaCall.What.BALANCES, quotas, 1, keyed -> keyed::inOrderOfSet);
    }

    @Override
    public QuotaCharge newCharge(QuotaSet quotas, long units) {
        requireUnits(units);
        return new RedisCharge(this, quotas, units);
    }

    private <T> Mono<T> ask(
            QuotaCall.What what, QuotaSet quotas, long units, Function<KeyedQuotas, Function<QuotaAnswer, T>> result) {
        return Mono.defer(() -> {
            KeyedQuotas keyed = keyed(quotas);
            Question<T> question = new Question<>(what, keyed, units, result.apply(keyed));
            calls.submit(question);
            return question.result.asMono();
        });
    }

    private static final class Question<T> extends QuotaCall {

        private final Function<QuotaAnswer, T> read;
        private final Sinks.One<T> result = Sinks.one();

        Question(What what, KeyedQuotas quotas, long units, Function<QuotaAnswer, T> read) {
            super(what, quotas, units);
            this.read = read;
        }

        @Override
        void answered(QuotaAnswer answer) {
            result.tryEmitValue(read.apply(answer));
        }

        @Override
        void failed(Throwable why, boolean isSent) {
            result.tryEmitError(why);
        }
    }

    /** The keys of a set, which are kept with it. */
    KeyedQuotas keyed(QuotaSet quotas) {
        if (quotas.attachment() instanceof KeyedQuotas keyed && keyed.set == quotas) {
            return keyed;
        }
        KeyedQuotas keyed = new KeyedQuotas(quotas);
        quotas.attach(keyed);
        return keyed;
    }

    /** Why Redis has not answered the last call; null after an answer. For people to read. */
    public @Nullable String failure() {
        return calls.failure();
    }

    /** Nothing that is not answered is sent again. To be called before the connections are closed. */
    @Override
    public void close() {
        calls.close();
    }

    private static void requireUnits(long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
    }
}
