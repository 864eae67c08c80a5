package io.fairgate.quota.embedded;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * A set of quotas with the balances to which they are charged, so that a decision need not look them up.
 *
 * <p>The locks of all owners are taken one inside the other, in the order of the owners: all sets take them in the same
 * order, in any hierarchy of owners. They are held for arithmetic on a handful of values and two readings of the clock; no
 * signal and no user code runs under them. An atomic reference to an immutable balance was rejected: it cannot charge several
 * quotas all or none, and allocates for each charge.
 */
final class BoundQuotas {

    /** No decision: a usage was forgotten, and the balances must be looked up anew. */
    static final QuotaDecision STALE = QuotaDecision.refused(List.of());
    /** No decision yet: units must be written to the journal before they are granted. */
    static final QuotaDecision NOT_YET = QuotaDecision.refused(List.of());

    final EmbeddedQuotas backend;
    final QuotaSet set;
    private final Scheduler clock;
    private final @Nullable InstantSource calendar;
    private final Account[] accounts;
    /** The quotas of the set, the enforced ones first. */
    private final OwnedQuota[] quotas;

    private final Usage[] usages;
    private final int enforced;
    /** For each quota, in the order of the set, its index in {@link #quotas}. */
    private final int[] places;

    private final ClockReading now = new ClockReading();
    private final QuotaDecision passed = QuotaDecision.passed(this::enforcedBalances, List.of());

    BoundQuotas(QuotaSet set, EmbeddedQuotas backend, Scheduler clock, InstantSource calendar) {
        this.backend = backend;
        this.set = set;
        this.clock = clock;
        this.calendar = set.quotas().stream().anyMatch(q -> q.quota() instanceof Quota.Calendar) ? calendar : null;
        List<OwnedQuota> inOrder = new ArrayList<>();
        set.quotas().stream().filter(OwnedQuota::enforced).forEach(inOrder::add);
        enforced = inOrder.size();
        set.quotas().stream().filter(quota -> !quota.enforced()).forEach(inOrder::add);
        quotas = inOrder.toArray(OwnedQuota[]::new);
        places = set.quotas().stream().mapToInt(inOrder::indexOf).toArray();
        usages = new Usage[quotas.length];
        now.read(clock, this.calendar);
        SortedMap<QuotaOwner, Account> byOwner = new TreeMap<>();
        for (int i = 0; i < quotas.length; i++) {
            Account account = byOwner.computeIfAbsent(quotas[i].owner(), this::accountWithRoom);
            usages[i] = account.usage(quotas[i].quota(), now);
        }
        accounts = byOwner.values().toArray(Account[]::new);
    }

    private Account accountWithRoom(QuotaOwner owner) {
        Account account = backend.account(owner);
        account.makeRoom(now);
        return account;
    }

    /**
     * Decides whether {@code units} would pass. Methods with a {@code depth} take a lock and call themselves for the next.
     *
     * @param depth 0; the index of the lock to take in recursive calls
     */
    QuotaDecision check(long units, int depth) {
        synchronized (accounts[depth]) {
            if (depth + 1 < accounts.length) {
                return check(units, depth + 1);
            }
            now.read(clock, calendar);
            if (isStale()) {
                return STALE;
            } else if (!pass(0, enforced, units)) {
                return QuotaDecision.refused(balances(enforced, units));
            }
            return pass(enforced, quotas.length, units) ? passed : passedBut(units);
        }
    }

    /** @param charge the charge to be settled later; null for units that will not be settled */
    QuotaDecision charge(long units, @Nullable EmbeddedCharge charge, int depth) {
        synchronized (accounts[depth]) {
            if (depth + 1 < accounts.length) {
                return charge(units, charge, depth + 1);
            }
            now.read(clock, calendar);
            if (isStale()) {
                return STALE;
            }
            // A charge that has waited is decided anew; until then its units do not count as awaited.
            boolean hasWaited = charge != null && waitsNoMore(charge, charge.leave());
            QuotaDecision decision = decide(units, charge);
            if (hasWaited) {
                follow(quotas.length);
            }
            return decision;
        }
    }

    private QuotaDecision decide(long units, @Nullable EmbeddedCharge charge) {
        if (!pass(0, enforced, units)) {
            return QuotaDecision.refused(balances(enforced, units));
        }
        boolean all = pass(enforced, quotas.length, units);
        int count = all ? quotas.length : enforced;
        if (!areCovered(count, units) && hasToWait(count, charge)) {
            return NOT_YET;
        }
        QuotaDecision decision = all ? passed : passedBut(units);
        if (charge == null || charge.begin(this, count)) {
            for (int i = 0; i < count; i++) {
                long mark = usages[i].charge(units);
                if (charge != null) {
                    charge.marks[i] = mark;
                }
            }
        }
        return decision;
    }

    /** Ends the wait of a charge that was settled while it waited: its units are not awaited any more. */
    void leave(EmbeddedCharge charge, int depth) {
        synchronized (accounts[depth]) {
            if (depth + 1 < accounts.length) {
                leave(charge, depth + 1);
            } else {
                waitsNoMore(charge, this);
                follow(charge.counted);
            }
        }
    }

    /**
     * Corrects what was charged.
     *
     * @param more the units in addition to those charged; below 0 to return some of them
     * @return the quotas whose usage was forgotten, if a debt is to be charged to the usage that has replaced it: after these
     *     locks have been released, because the owner may have another account, whose lock would break the order of the locks
     */
    List<OwnedQuota> settle(EmbeddedCharge charge, long more, int depth) {
        synchronized (accounts[depth]) {
            if (depth + 1 < accounts.length) {
                return settle(charge, more, depth + 1);
            }
            now.read(clock, calendar);
            List<OwnedQuota> owed = List.of();
            for (int i = 0; i < charge.counted; i++) {
                if (!usages[i].isForgotten) {
                    usages[i].settle(quotas[i].quota(), charge.marks[i], more, now);
                } else if (more > 0) {
                    owed = owed.isEmpty() ? new ArrayList<>() : owed;
                    owed.add(quotas[i]);
                }
            }
            return owed;
        }
    }

    /** The balances for a request of {@code units}; null when this set is stale. */
    @Nullable
    List<Balance> balances(long units, int depth) {
        synchronized (accounts[depth]) {
            if (depth + 1 < accounts.length) {
                return balances(units, depth + 1);
            }
            now.read(clock, calendar);
            if (isStale()) {
                return null;
            }
            List<Balance> found = balances(quotas.length, units);
            List<Balance> inOrder = new ArrayList<>(places.length);
            for (int place : places) {
                inOrder.add(found.get(place));
            }
            return inOrder;
        }
    }

    /** The enforced balances for a decision that may be old: meanwhile its usages may have been forgotten. */
    private List<Balance> enforcedBalances() {
        List<Balance> balances = backend.balancesNow(this, 0);
        if (enforced == quotas.length) {
            return balances;
        }
        return balances.stream().filter(balance -> balance.of().enforced()).toList();
    }

    // ---- under all locks ----

    private boolean isStale() {
        for (Usage usage : usages) {
            if (usage.isForgotten) {
                return true;
            }
        }
        return false;
    }

    private boolean pass(int from, int to, long units) {
        for (int i = from; i < to; i++) {
            if (!usages[i].passes(quotas[i].quota(), units, now)) {
                return false;
            }
        }
        return true;
    }

    private boolean areCovered(int count, long units) {
        boolean covered = true;
        for (int i = 0; i < count; i++) {
            if (usages[i] instanceof JournaledUsage journaled) {
                covered &= journaled.isCovered(quotas[i].quota(), units);
            }
        }
        return covered;
    }

    /**
     * Has the units written that the journal does not cover.
     *
     * @return false when they are covered at once, because the journal does not wait for the disk, or when the charge was
     *     settled meanwhile
     */
    private boolean hasToWait(int count, @Nullable EmbeddedCharge charge) {
        if (charge == null || !charge.await(this, count)) {
            return charge == null;
        }
        await(count, charge.units());
        follow(count);
        return !areCovered(count, charge.units()) || !waitsNoMore(charge, charge.leave());
    }

    /** @param at the balances that the charge waited for until now; null when it did not wait */
    private static boolean waitsNoMore(EmbeddedCharge charge, @Nullable BoundQuotas at) {
        if (at != null) {
            at.await(charge.counted, -charge.units());
        }
        return at != null;
    }

    private void await(int count, long units) {
        for (int i = 0; i < count; i++) {
            if (usages[i] instanceof JournaledUsage journaled) {
                journaled.await(units);
            }
        }
    }

    /** Leaves out forgotten usages, which would overwrite the records of the usages that have replaced them. */
    private void follow(int count) {
        for (int i = 0; i < count; i++) {
            if (usages[i] instanceof JournaledUsage journaled && !journaled.isForgotten) {
                journaled.follow();
            }
        }
    }

    /** The decision when all enforced quotas pass, and some that are not enforced would refuse. */
    private QuotaDecision passedBut(long units) {
        List<String> wouldRefuse = balances(quotas.length, units).stream()
                .filter(Balance::refuses)
                .map(balance -> balance.of().label())
                .toList();
        return QuotaDecision.passed(this::enforcedBalances, wouldRefuse);
    }

    private List<Balance> balances(int count, long units) {
        List<Balance> balances = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            balances.add(usages[i].balance(quotas[i], units, now));
        }
        return balances;
    }
}
