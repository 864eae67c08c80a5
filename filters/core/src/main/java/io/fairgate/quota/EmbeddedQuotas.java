package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.InstantSource;
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
 * A usage is not evicted, because a forgotten usage is a refill; {@link #keep} and {@link #dropUnused} are for owners that are
 * there no more.
 */
public final class EmbeddedQuotas implements Quotas {

    /** So many owners that are not to be kept have a balance: some 20 to 50 MB. */
    static final int MOST_UNKEPT = 50_000;

    private final Scheduler clock;
    private final InstantSource calendar;
    private final @Nullable UsageJournal journal;
    private final ConcurrentMap<QuotaOwner, Account> accounts = new ConcurrentHashMap<>();

    /** Whose balances are to be kept; null for those of everybody. */
    private volatile @Nullable Set<QuotaOwner> kept;
    /** Those that have an account and are not to be kept, in the order in which they went. Guarded by itself. */
    private final Set<QuotaOwner> unkept = new LinkedHashSet<>();

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
        quotas.note(decision);
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
        if (decision != QuotaDecision.NOT_YET) {
            quotas.note(decision);
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
            at.settle(charge, more, 0).forEach(owned -> owe(owned, more));
        }
    }

    /** A debt of a charge whose account was dropped. */
    private void owe(OwnedQuota owned, long units) {
        boolean isOwed = false;
        while (!isOwed) {
            Account account = account(owned.owner());
            synchronized (account) {
                if (!account.isDropped()) {
                    Moment now = now();
                    account.usage(owned.quota(), now).settle(owned.quota(), 0, units, now);
                    isOwed = true;
                }
            }
        }
    }

    /**
     * Writes down exactly what is used, so that nothing of a chunk is lost. Whoever charges after that counts in memory
     * and may have to be written again: it is for the end of a program, before the journal is closed.
     */
    public void writeExactly() {
        accounts.values().forEach(Account::writeExactly);
    }

    // ---- owners that are there no more ----

    /**
     * Names the owners whose balances are to be kept. Those of all others are kept until nothing of them is used any more, so
     * that an owner that goes and comes back soon has not got new units: {@link #dropUnused} drops them then.
     */
    public void keep(Set<QuotaOwner> owners) {
        kept = Set.copyOf(owners);
        synchronized (unkept) {
            unkept.removeIf(this::isKept);
            accounts.keySet().stream().filter(owner -> !isKept(owner)).forEach(unkept::add);
        }
    }

    /**
     * Drops the balances of owners that are not to be kept and of which nothing is used any more: rates are full again, and
     * windows are over. Of others the {@value #MOST_UNKEPT} that were last to go are left.
     *
     * @return how many are left
     */
    public int dropUnused() {
        Moment now = now();
        int tooMany = drop(now, Integer.MAX_VALUE, false) - MOST_UNKEPT;
        return drop(now, Math.max(0, tooMany), true);
    }

    private int drop(Moment now, int most, boolean evenIfUsed) {
        List<QuotaOwner> candidates;
        synchronized (unkept) {
            candidates = List.copyOf(unkept);
        }
        int dropped = 0;
        for (QuotaOwner owner : candidates) {
            if (dropped == most) {
                break;
            }
            Account account = accounts.get(owner);
            if (account != null && !isKept(owner) && account.drop(now, evenIfUsed)) {
                accounts.remove(owner, account);
                dropped++;
            }
        }
        synchronized (unkept) {
            unkept.removeIf(owner -> !accounts.containsKey(owner));
            return unkept.size();
        }
    }

    // ---- where the balances are ----

    Account account(QuotaOwner owner) {
        Account known = accounts.get(owner);
        if (known != null && !known.isDropped()) {
            return known;
        }
        Account account = accounts.compute(
                owner, (o, found) -> found == null || found.isDropped() ? new Account(o, journal) : found);
        if (!isKept(owner)) {
            synchronized (unkept) {
                unkept.add(owner);
            }
        }
        return account;
    }

    private boolean isKept(QuotaOwner owner) {
        Set<QuotaOwner> all = kept;
        return all == null || all.contains(owner);
    }

    private Moment now() {
        Moment now = new Moment();
        now.read(clock, calendar);
        return now;
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

    /** How many owners have a balance. */
    public int owners() {
        return accounts.size();
    }
}
