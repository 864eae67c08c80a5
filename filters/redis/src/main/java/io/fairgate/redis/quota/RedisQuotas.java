package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import io.fairgate.time.MonotonicScheduler;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * Quotas whose balances are in Redis: all processes on the same Redis charge the same ones. The rules are those of
 * {@link io.fairgate.quota.embedded.EmbeddedQuotas}, with microseconds in the place of nanoseconds, and with the clock of Redis. All
 * processes with the same numbers together admit not one unit more than a quota allows, as long as Redis loses nothing and its clock is
 * not set forward.
 *
 * <p>While much is left of all quotas of a set, and requests come often, decisions are made at once, with units that this process has
 * charged ahead. Other decisions wait for one round trip to Redis, or for two while another one is on its way. Their answers come on the thread of the
 * connection. A call waits for at most a second to be sent and for a second to be answered (five each before the first answer). Otherwise it errors with
 * {@link io.fairgate.quota.QuotasUnavailableException}, and later ones at once until Redis answers again. Settlements are made then. A call whose
 * quotas are all not enforced passes instead, and so do others if the {@link QuotaOutagePolicy} says so.
 *
 * <p>Balances end by themselves when nothing of them is used any more; those of totals stay. What Redis loses is unused again.
 */
public final class RedisQuotas implements Quotas, AutoCloseable {

    final QuotaCalls calls;
    final QuotaOutagePolicy outagePolicy;
    final Scheduler time;
    /** Those that have units at hand. */
    final Set<PrepaidUnits> holders = ConcurrentHashMap.newKeySet();

    private volatile boolean isPrepaying;

    /**
     * Quotas in Redis, which connects.
     *
     * @param outagePolicy what happens to requests while Redis does not answer
     */
    public static RedisQuotas start(RedisConnections redis, QuotaOutagePolicy outagePolicy) {
        RedisQuotas quotas = new RedisQuotas(
                new RedisQuotaLedger(redis, MonotonicScheduler.INSTANCE, InstantSource.system()),
                outagePolicy,
                MonotonicScheduler.INSTANCE,
                UUID.randomUUID().toString(),
                true);
        quotas.calls.start();
        return quotas;
    }

    /**
     * Sends nothing yet.
     *
     * @param gateway a name that no other gateway has or had
     * @param isPrepaying whether units are charged before requests ask for them
     */
    RedisQuotas(
            QuotaLedger ledger, QuotaOutagePolicy outagePolicy, Scheduler time, String gateway, boolean isPrepaying) {
        this.outagePolicy = outagePolicy;
        this.time = time;
        this.isPrepaying = isPrepaying;
        this.calls = new QuotaCalls(ledger, new QuotaLog(outagePolicy.isOpen()), time, gateway);
    }

    @Override
    public Mono<QuotaDecision> check(QuotaSet quotas, long units) {
        requireUnits(units);
        return quotas.isEmpty()
                ? Mono.just(QuotaDecision.UNLIMITED)
                : Mono.defer(() -> checkNow(prepaid(quotas), units));
    }

    private Mono<QuotaDecision> checkNow(PrepaidUnits prepaid, long units) {
        QuotaDecision decision = prepaid.decision(units);
        return decision != null
                ? Mono.just(prepaid.keyed.noted(decision))
                : submitted(new Check(prepaid.keyed, units, outagePolicy), check -> check.decided);
    }

    @Override
    public Mono<List<Balance>> balances(QuotaSet quotas) {
        return quotas.isEmpty()
                ? Mono.just(List.of())
                : Mono.defer(() -> submitted(new Query(prepaid(quotas).keyed), query -> query.balances));
    }

    @Override
    public QuotaCharge newCharge(QuotaSet quotas, long units) {
        requireUnits(units);
        return new RedisCharge(this, quotas, units);
    }

    private <C extends QuotaCall, T> Mono<T> submitted(C call, Function<C, Sinks.One<T>> result) {
        calls.submit(call);
        return result.apply(call).asMono();
    }

    private static final class Check extends QuotaCall {

        private final Sinks.One<QuotaDecision> decided = Sinks.one();
        private final QuotaOutagePolicy outagePolicy;

        Check(KeyedQuotas keyed, long units, QuotaOutagePolicy outagePolicy) {
            super(What.CHECK, keyed, units);
            this.outagePolicy = outagePolicy;
        }

        @Override
        void answered(QuotaAnswer answer) {
            if (answer.outcome() == Outcome.UNREADABLE) {
                keyed.withoutAnswer(keyed.unreadable(), QuotaOutagePolicy.FAIL_CLOSED, false, decided);
            } else if (answer.outcome() != Outcome.NOTHING) {
                decided.tryEmitValue(keyed.noted(keyed.decision(answer)));
            }
        }

        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {
            keyed.withoutAnswer(why, isOutage ? outagePolicy : QuotaOutagePolicy.FAIL_CLOSED, false, decided);
        }
    }

    private static final class Query extends QuotaCall {

        private final Sinks.One<List<Balance>> balances = Sinks.one();

        Query(KeyedQuotas keyed) {
            super(What.BALANCES, keyed, 1);
        }

        @Override
        void answered(QuotaAnswer answer) {
            if (answer.outcome() == Outcome.UNREADABLE) {
                failed(keyed.unreadable(), false, false);
            } else if (answer.outcome() != Outcome.NOTHING) {
                balances.tryEmitValue(keyed.inOrderOfSet(answer));
            }
        }

        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {
            balances.tryEmitError(why);
        }
    }

    /** What this gateway has at hand of a set, which is kept with it. */
    PrepaidUnits prepaid(QuotaSet quotas) {
        if (quotas.attachment() instanceof PrepaidUnits prepaid
                && prepaid.backend == this
                && prepaid.keyed.set == quotas) {
            return prepaid;
        }
        PrepaidUnits prepaid = new PrepaidUnits(new KeyedQuotas(quotas), this);
        quotas.attach(prepaid);
        return prepaid;
    }

    boolean isPrepaying() {
        return isPrepaying;
    }

    long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** Why Redis has not answered the last call; null after an answer. For people to read. */
    public @Nullable String failure() {
        return calls.failure();
    }

    /**
     * Gives back the units at hand, and blocks for up to a second, until settlements that are on their way have arrived. Then nothing that is not answered is sent again. To
     * be called before the connections are closed.
     */
    @Override
    public void close() {
        stopPrepaying();
        calls.close();
    }

    /** Gives back the units at hand. Then each request is charged by itself. */
    void stopPrepaying() {
        isPrepaying = false;
        holders.forEach(PrepaidUnits::end);
    }

    private static void requireUnits(long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
    }
}
