package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The quotas of one process, kept in memory. They are gone when it ends, unless a {@link UsageJournal} keeps those of the
 * calendar and totals.
 *
 * <p>Decides on the subscriber's thread, from any number of threads, and hands the work to no other, unless units have to
 * be written down before they are given. Rates and sliding windows are exact to the nanosecond of the monotonic clock, calendars to the
 * millisecond of the wall clock; the package description explains both, and what changed numbers and a wall clock that
 * jumps do.
 *
 * <p>Beside the port there is a way to the same decisions without a subscription, {@link #checkNow} and {@link
 * #chargeNow}, which allocate nothing for a request that passes.
 *
 * <p>An owner costs one small entry for each quota from its first request on; a sliding window about half a kilobyte.
 * Owners are not evicted, because a forgotten usage is a refill: whoever makes the sets bounds the owners.
 */
public final class EmbeddedQuotas implements Quotas {

    private final Scheduler clock;
    private final InstantSource calendar;
    private final @Nullable UsageJournal journal;
    private final ConcurrentMap<QuotaOwner, Account> accounts = new ConcurrentHashMap<>();

    /**
     * @param clock monotonic, for rates and sliding windows: only {@link Scheduler#now(TimeUnit)} is used, in
     *     nanoseconds; a program passes {@link io.fairgate.time.MonotonicScheduler#INSTANCE}
     * @param calendar the wall clock, for calendars only
     */
    public EmbeddedQuotas(Scheduler clock, InstantSource calendar) {
        this(clock, calendar, null);
    }

    /**
     * @param clock as above; what waited for the journal goes on on its workers
     * @param calendar as above
     * @param journal keeps calendar quotas and totals over a restart; null for nothing. Its listener is told now when it
     *     has usage of windows that have not begun
     */
    public EmbeddedQuotas(Scheduler clock, InstantSource calendar, @Nullable UsageJournal journal) {
        this.clock = clock;
        this.calendar = calendar;
        this.journal = journal;
        if (journal != null) {
            journal.tellOfWindowsAfter(calendar.instant());
        }
    }

    /** @throws IllegalArgumentException at once, when {@code units} is below 1 */
    @Override
    public Mono<QuotaDecision> check(QuotaSet quotas, long units) {
        requireUnits(units);
        return quotas.isEmpty() ? Mono.just(QuotaDecision.UNLIMITED) : Mono.fromSupplier(() -> checkNow(quotas, units));
    }

    @Override
    public Mono<QuotaDecision> charge(QuotaCharge charge) {
        UsageJournal written = journal;
        Mono<QuotaDecision> now = Mono.fromCallable(() -> answer(decided(charge.quotas(), charge.units(), charge)));
        return written == null
                ? now
                : now.repeatWhenEmpty(again ->
                        again.concatMap(i -> written.written().publishOn(clock).thenReturn(i)));
    }

    private static @Nullable QuotaDecision answer(QuotaDecision decision) {
        return decision == QuotaDecision.NOT_YET ? null : decision;
    }

    @Override
    public Mono<Void> settle(QuotaCharge charge, long actual) {
        return Mono.fromRunnable(() -> settleNow(charge, actual));
    }

    @Override
    public Mono<List<Balance>> balances(QuotaSet quotas) {
        return quotas.isEmpty() ? Mono.just(List.of()) : Mono.fromSupplier(() -> balancesNow(bound(quotas), 1));
    }

    /**
     * Like {@link #check}, at once.
     *
     * @throws IllegalArgumentException when {@code units} is below 1
     */
    public QuotaDecision checkNow(QuotaSet quotas, long units) {
        requireUnits(units);
        if (quotas.isEmpty()) {
            return QuotaDecision.UNLIMITED;
        }
        QuotaDecision decision = bound(quotas).check(units, 0);
        while (decision == QuotaDecision.STALE) {
            decision = boundAnew(quotas).check(units, 0);
        }
        return decision;
    }

    /**
     * Takes {@code units} that will not be settled, at once.
     *
     * @return null when units have to be written down first: {@link #charge} has that done, and waits for it
     * @throws IllegalArgumentException when {@code units} is below 1
     */
    public @Nullable QuotaDecision chargeNow(QuotaSet quotas, long units) {
        requireUnits(units);
        return answer(decided(quotas, units, null));
    }

    private QuotaDecision decided(QuotaSet quotas, long units, @Nullable QuotaCharge charge) {
        if (quotas.isEmpty()) {
            return QuotaDecision.UNLIMITED;
        }
        QuotaDecision decision = bound(quotas).charge(units, charge, 0);
        while (decision == QuotaDecision.STALE) {
            decision = boundAnew(quotas).charge(units, charge, 0);
        }
        return decision;
    }

    private void settleNow(QuotaCharge charge, long actual) {
        if (actual < 0) {
            throw new IllegalArgumentException("actual: %d (expected: >= 0)".formatted(actual));
        }
        // The sum of a balance and a debt stays far below what a long holds.
        long more = Math.min(actual, 2 * Quota.MAX_LIMIT) - charge.units();
        BoundQuotas at = charge.end() ? charge.at() : null;
        if (at != null && more != 0) {
            at.settle(charge, more, 0);
        }
    }

    /**
     * Writes down exactly what is used, so that nothing of a chunk is lost. Whoever charges after that counts in memory
     * and may have to be written again: it is for the end of a program, before the journal is closed.
     */
    public void writeExactly() {
        accounts.values().forEach(Account::writeExactly);
    }

    // ---- where the balances are ----

    Account account(QuotaOwner owner) {
        return accounts.computeIfAbsent(owner, o -> new Account(o, journal));
    }

    private BoundQuotas bound(QuotaSet quotas) {
        BoundQuotas bound = quotas.bound();
        return bound != null && bound.isOf(this) ? bound : boundAnew(quotas);
    }

    private BoundQuotas boundAnew(QuotaSet quotas) {
        BoundQuotas bound = new BoundQuotas(quotas, this, clock, calendar);
        quotas.bind(bound);
        return bound;
    }

    List<Balance> balancesNow(BoundQuotas quotas, long units) {
        List<Balance> balances = quotas.balances(units, 0);
        while (balances == null) {
            balances = new BoundQuotas(QuotaSet.of(quotas.inOrder()), this, clock, calendar).balances(units, 0);
        }
        return balances;
    }

    private static void requireUnits(long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
    }

    /** How many owners have an account, for tests. */
    int ownersKnown() {
        return accounts.size();
    }
}
