package io.fairgate.quota.embedded;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.journal.JournalListener;
import io.fairgate.quota.journal.UsageJournal;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The quotas of one process, in memory. Balances are lost when the process ends, except that a {@link UsageJournal} keeps
 * those of calendar quotas and totals.
 *
 * <p>Decides on the subscriber's thread, for any number of threads, and changes threads only when units must be written to
 * the journal before they are granted. Rates and sliding windows are exact to the nanosecond of the monotonic clock,
 * calendars to the millisecond of the wall clock. The package description explains both, and the effects of changed numbers
 * and of a wall clock that jumps.
 *
 * <p>{@link #checkNow} and {@link #chargeNow} make the same decisions without a subscription, and allocate nothing for a
 * request that passes.
 *
 * <p>An owner costs one small entry for each quota from its first request on; a sliding window about half a kilobyte. A
 * usage is not evicted, because a forgotten usage is a refill; {@link #dropUnused} is for owners that were removed.
 */
public final class EmbeddedQuotas implements Quotas {

    /** The most balances of owners that need not be kept: some 20 to 50 MB. */
    static final int MOST_UNKEPT = 50_000;

    private final Scheduler clock;
    private final InstantSource calendar;
    private final @Nullable UsageJournal journal;
    private final ConcurrentMap<QuotaOwner, Account> accounts = new ConcurrentHashMap<>();

    /** Owners with an account that need not be kept, in the order in which they stopped to be kept. Guarded by itself. */
    private final Set<QuotaOwner> unkept = new LinkedHashSet<>();

    /**
     * @param clock monotonic, for rates and sliding windows: only {@link Scheduler#now(TimeUnit)} is used, in
     *     nanoseconds; a program passes {@link io.fairgate.time.MonotonicScheduler#INSTANCE}
     * @param calendar the wall clock, used only for calendar quotas
     */
    public EmbeddedQuotas(Scheduler clock, InstantSource calendar) {
        this(clock, calendar, null);
    }

    /**
     * @param clock as above; charges that waited for the journal continue on its workers
     * @param calendar as above
     * @param journal keeps calendar quotas and totals over a restart; null for none. The constructor calls
     *     {@link JournalListener#ranAhead} when the journal has usage of windows that have not begun
     */
    public EmbeddedQuotas(Scheduler clock, InstantSource calendar, @Nullable UsageJournal journal) {
        this.clock = clock;
        this.calendar = calendar;
        this.journal = journal;
        if (journal != null) {
            journal.reportWindowsAfter(calendar.instant());
        }
    }

    /** @throws IllegalArgumentException at once, when {@code units} is below 1 */
    @Override
    public Mono<QuotaDecision> check(QuotaSet quotas, long units) {
        requireUnits(units);
        return quotas.isEmpty() ? Mono.just(QuotaDecision.UNLIMITED) : Mono.fromSupplier(() -> checkNow(quotas, units));
    }

    @Override
    public QuotaCharge newCharge(QuotaSet quotas, long units) {
        requireUnits(units);
        return new EmbeddedCharge(this, quotas, units);
    }

    Mono<QuotaDecision> charge(EmbeddedCharge charge) {
        UsageJournal written = journal;
        Mono<QuotaDecision> now = Mono.fromCallable(() -> answer(decided(charge.quotas(), charge.units(), charge)));
        return written == null
                ? now
                : now.repeatWhenEmpty(again ->
                        again.concatMap(i -> written.written().publishOn(clock).thenReturn(i)));
    }

    private static @Nullable QuotaDecision answer(QuotaDecision decision) {
        return decision == BoundQuotas.NOT_YET ? null : decision;
    }

    @Override
    public Mono<List<Balance>> balances(QuotaSet quotas) {
        return quotas.isEmpty() ? Mono.just(List.of()) : Mono.fromSupplier(() -> balancesNow(bound(quotas), 1));
    }

    /**
     * Like {@link #check}, without a subscription.
     *
     * @throws IllegalArgumentException when {@code units} is below 1
     */
    public QuotaDecision checkNow(QuotaSet quotas, long units) {
        requireUnits(units);
        if (quotas.isEmpty()) {
            return QuotaDecision.UNLIMITED;
        }
        QuotaDecision decision = bound(quotas).check(units, 0);
        while (decision == BoundQuotas.STALE) {
            decision = boundAnew(quotas).check(units, 0);
        }
        quotas.note(decision);
        return decision;
    }

    /**
     * Charges {@code units} that will not be settled, without a subscription.
     *
     * @return null when units must be written to the journal first: {@link QuotaCharge#charge} writes them and waits
     * @throws IllegalArgumentException when {@code units} is below 1
     */
    public @Nullable QuotaDecision chargeNow(QuotaSet quotas, long units) {
        requireUnits(units);
        return answer(decided(quotas, units, null));
    }

    private QuotaDecision decided(QuotaSet quotas, long units, @Nullable EmbeddedCharge charge) {
        if (quotas.isEmpty()) {
            return QuotaDecision.UNLIMITED;
        }
        QuotaDecision decision = bound(quotas).charge(units, charge, 0);
        while (decision == BoundQuotas.STALE) {
            decision = boundAnew(quotas).charge(units, charge, 0);
        }
        if (decision != BoundQuotas.NOT_YET) {
            quotas.note(decision);
        }
        return decision;
    }

    void settle(EmbeddedCharge charge, long actual) {
        if (actual < 0) {
            throw new IllegalArgumentException("actual: %d (expected: >= 0)".formatted(actual));
        }
        // Bounded, so that the sum of a balance and a debt stays far below the largest long.
        long more = Math.min(actual, 2 * Quota.MAX_LIMIT) - charge.units();
        BoundQuotas balances = charge.end() ? charge.balances : null;
        if (balances != null && more != 0) {
            balances.settle(charge, more, 0).forEach(owned -> owe(owned, more));
        }
    }

    /** Charges a debt to the usage that has replaced a forgotten one; it needs no mark for that. */
    private void owe(OwnedQuota owned, long units) {
        Account account = account(owned.owner());
        synchronized (account) {
            ClockReading now = now();
            Usage usage = account.usage(owned.quota(), now);
            if (!usage.isForgotten) {
                usage.settle(owned.quota(), 0, units, now);
                return;
            }
        }
        owe(owned, units); // The account was dropped before its lock was taken.
    }

    /**
     * Writes the exact usage to the journal, so that the rest of no chunk is lost. To be called at the end of a program, before
     * the journal is closed: charges after it need the journal again.
     */
    public void writeExactly() {
        accounts.values().forEach(Account::writeExactly);
    }

    // ---- owners that are no longer configured ----

    /** Also drops balances that are used, if there are more than {@value #MOST_UNKEPT} of these owners: those removed first. */
    @Override
    public Mono<Void> dropUnused(Set<QuotaOwner> kept) {
        return Mono.fromRunnable(() -> dropUnusedNow(kept));
    }

    /** Like {@link #dropUnused}; returns how many balances of owners that need not be kept are left. */
    int dropUnusedNow(Set<QuotaOwner> kept) {
        ClockReading now = now();
        synchronized (unkept) {
            unkept.removeAll(kept);
            accounts.keySet().stream().filter(owner -> !kept.contains(owner)).forEach(unkept::add);
            drop(now, Integer.MAX_VALUE, false);
            drop(now, unkept.size() - MOST_UNKEPT, true);
            return unkept.size();
        }
    }

    private void drop(ClockReading now, int most, boolean evenIfUsed) {
        int dropped = 0;
        for (Iterator<QuotaOwner> owners = unkept.iterator(); dropped < most && owners.hasNext(); ) {
            QuotaOwner owner = owners.next();
            Account account = accounts.get(owner);
            if (account == null || account.drop(now, evenIfUsed)) {
                owners.remove();
                accounts.remove(owner, account);
                dropped++;
            }
        }
    }

    // ---- accounts ----

    Account account(QuotaOwner owner) {
        Account known = accounts.get(owner);
        if (known != null && !known.isDropped) {
            return known;
        }
        return accounts.compute(
                owner, (o, found) -> found == null || found.isDropped ? new Account(o, journal) : found);
    }

    private ClockReading now() {
        ClockReading now = new ClockReading();
        now.read(clock, calendar);
        return now;
    }

    private BoundQuotas bound(QuotaSet quotas) {
        return quotas.attachment() instanceof BoundQuotas bound && bound.backend == this ? bound : boundAnew(quotas);
    }

    private BoundQuotas boundAnew(QuotaSet quotas) {
        BoundQuotas bound = new BoundQuotas(quotas, this, clock, calendar);
        quotas.attach(bound);
        return bound;
    }

    List<Balance> balancesNow(BoundQuotas quotas, long units) {
        List<Balance> balances = quotas.balances(units, 0);
        while (balances == null) {
            balances = new BoundQuotas(quotas.set, this, clock, calendar).balances(units, 0);
        }
        return balances;
    }

    private static void requireUnits(long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
    }

    /** The number of owners with a balance. */
    public int owners() {
        return accounts.size();
    }
}
