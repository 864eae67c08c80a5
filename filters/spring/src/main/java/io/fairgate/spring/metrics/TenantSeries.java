package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Decides which tenants have time series of their own; all others are counted together as {@link #OTHER}.
 *
 * <p><b>Shown</b> are the members that the policy names in {@code metrics.tenants}, and the K most active of the
 * others. While fewer than K of the others are shown, a member is shown from its first request on. After that
 * {@link #review} decides by permit-time, of which older parts count for less: a tenant must be clearly more active
 * than the least active one to take its place.
 *
 * <p><b>Kept</b> are tenants that were shown before: up to K, and more only after the policy has stopped naming some.
 * Their events are counted as {@link #OTHER}, and their own counters stand still. When a kept tenant is shown again,
 * its counters go on from there, so that no series ever decreases. After an hour, a kept tenant makes room for another
 * one that needs it, and its series ends; if it is shown again after that, a new series begins at zero.
 *
 * <p>Each event is counted in one series: that of its tenant at that moment, or {@link #OTHER}. So no event is lost or
 * counted twice when tenants change between them (docs/decisions/0032-series-of-the-most-active-tenants.md).
 */
final class TenantSeries {

    /** The tag of all tenants without a series of their own. */
    static final String OTHER = "_other";

    private static final long HALF_LIFE = Duration.ofMinutes(5).toNanos();
    private static final long KEPT_AT_LEAST = Duration.ofHours(1).toNanos();
    /** Longer than Prometheus looks back for a series that has ended. */
    private static final long ENDED_FOR = Duration.ofMinutes(10).toNanos();
    /**
     * How many times as active as the least active shown tenant another one must be to take its place, so that two
     * tenants of similar activity do not alternate.
     */
    private static final double CLEARLY = 1.5;

    private final int most;
    private final Scheduler time;
    private final HeavyTenants candidates;
    /** The candidates since the last review, whose use has not been decayed yet. */
    private final HeavyTenants recentCandidates;

    private final Map<TenantId, Series> known = new ConcurrentHashMap<>();
    private volatile Policy policy;
    private volatile Runnable whenChanged = () -> {};
    /** False once a member has been counted as {@link #OTHER} because there was no room for it. */
    private volatile boolean takesAll = true;
    /** Odd while the set is changing; see {@link #version}. */
    private volatile int version;

    // Guarded by this.
    private final Map<TenantId, Long> ended = new HashMap<>();
    private Set<TenantId> pinned = Set.of();
    private long reviewedAt;

    private static final class Series {
        private final String tag;
        private final DoubleAdder used = new DoubleAdder();
        private volatile boolean isShown = true;
        private double activity;
        private long keptSince;

        Series(TenantId tenant) {
            tag = tenant.value();
        }
    }

    /**
     * The activity of a tenant at a review, in seconds of permit-time.
     *
     * @param used the permit-time of holds that have ended
     * @param held the permit-time so far of current holds
     */
    private record Ranked(TenantId tenant, double used, double held) {
        double activity() {
            return used + held;
        }
    }

    /** @param most how many tenants are shown beside those that the policy names, at least 0 */
    TenantSeries(Policy policy, int most, Scheduler time) {
        this.policy = policy;
        this.most = most;
        this.time = time;
        this.candidates = new HeavyTenants(most);
        this.recentCandidates = new HeavyTenants(most);
        this.reviewedAt = now();
        follow(policy);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** Sets the action to run when a tenant is shown outside of a review; it must be quick. */
    void whenChanged(Runnable action) {
        whenChanged = action;
    }

    // ---- as requests come ----

    /** The tag for an event of the tenant that happens now; the tenant may become shown by it. */
    String tag(TenantId tenant) {
        Series series = known.get(tenant);
        if (series == null && takesAll && isMember(tenant)) {
            series = take(tenant);
        }
        return series != null && series.isShown ? series.tag : OTHER;
    }

    private boolean isMember(TenantId tenant) {
        return policy.members().containsKey(tenant);
    }

    private synchronized @Nullable Series take(TenantId tenant) {
        Series series = known.get(tenant);
        if (series == null) {
            takesAll = shownUnpinned().size() < most;
            if (takesAll && isMember(tenant)) {
                series = new Series(tenant);
                known.put(tenant, series);
                whenChanged.run();
            }
        }
        return series;
    }

    /** Adds permit-time of the tenant: permits times the seconds for which they were held. */
    void used(TenantId tenant, double seconds) {
        Series series = known.get(tenant);
        if (series != null) {
            series.used.add(seconds);
        } else if (isMember(tenant)) {
            recentCandidates.add(tenant, seconds);
        }
    }

    // ---- what is read ----

    /** The tag that the tenant has now. Unlike {@link #tag}, this never makes a tenant shown. */
    String tagNow(TenantId tenant) {
        Series series = known.get(tenant);
        return series != null && series.isShown ? series.tag : OTHER;
    }

    /** The tenants that are shown: events count in their own series. */
    Set<TenantId> shown() {
        return tenants(true);
    }

    /** The tenants that are kept: their own series stand still. */
    Set<TenantId> kept() {
        return tenants(false);
    }

    private Set<TenantId> tenants(boolean shown) {
        Set<TenantId> tenants = new HashSet<>();
        known.forEach((tenant, series) -> {
            if (series.isShown == shown) {
                tenants.add(tenant);
            }
        });
        return tenants;
    }

    /**
     * Shows whether tenants changed their tags during a read: none did if the version is even, and the same before and
     * after the read.
     */
    int version() {
        return version;
    }

    // ---- changes ----

    /**
     * Follows a new policy. Removed members lose their series. The members that the policy names are shown at once if
     * no member has been counted as {@link #OTHER} yet, otherwise from the next review on.
     */
    synchronized void follow(Policy next) {
        policy = next;
        pinned = next.tenantsInMetrics();
        known.keySet().retainAll(next.members().keySet());
        ended.keySet().retainAll(next.members().keySet());
        if (takesAll) {
            // None of their events has been counted as OTHER.
            pinned.forEach(tenant -> known.computeIfAbsent(tenant, Series::new));
        }
        if (takesAll && next.members().size() - pinned.size() <= most) {
            // There is room for all, so their series exist before their first event.
            next.members().keySet().forEach(tenant -> known.computeIfAbsent(tenant, Series::new));
        }
    }

    /** What the meters do when a tenant is shown or kept, or its series ends. */
    interface Move {
        /** Events of the tenant are counted with another tag from now on. */
        void counted(TenantId tenant, String before, String now);

        /** Its series ends. */
        void ended(TenantId tenant);
    }

    /**
     * Decides again which tenants are shown.
     *
     * @param held the permit-time so far of current holds, in seconds
     */
    synchronized void review(Map<TenantId, Double> held, Move move) {
        version++;
        try {
            long now = now();
            double factor = Math.pow(0.5, (double) (now - reviewedAt) / HALF_LIFE);
            reviewedAt = now;
            ended.values().removeIf(since -> now - since > ENDED_FOR);
            for (TenantId tenant : pinned) {
                if (!tagNow(tenant).equals(tenant.value())) {
                    show(new Ranked(tenant, 0, 0), move);
                }
            }
            PriorityQueue<Ranked> shown = new PriorityQueue<>(Comparator.comparingDouble(Ranked::activity));
            List<Ranked> others = rank(held, factor, shown);
            while (shown.size() > most) {
                // The policy no longer names some of them.
                keep(shown.remove().tenant, now, move);
            }
            for (Ranked other : others) {
                Ranked least = shown.peek();
                if (shown.size() < most) {
                    show(other, move);
                    shown.add(other);
                } else if (least == null || other.activity() <= CLEARLY * least.activity()) {
                    break;
                } else if (makeRoomFor(other.tenant, now, move)) {
                    shown.remove(least);
                    keep(least.tenant, now, move);
                    show(other, move);
                    shown.add(other);
                }
            }
        } finally {
            version++;
        }
    }

    /**
     * The tenants that are not shown, the most active first.
     *
     * @param shown gets those that are shown and that the policy does not name
     */
    private List<Ranked> rank(Map<TenantId, Double> held, double factor, PriorityQueue<Ranked> shown) {
        Map<TenantId, Double> others = new HashMap<>();
        held.keySet().forEach(tenant -> others.put(tenant, 0.0));
        candidates.decay(factor);
        recentCandidates.moveTo(candidates);
        candidates.forEach((tenant, seconds) -> others.merge(tenant, seconds, Double::sum));
        known.forEach((tenant, series) -> {
            others.remove(tenant);
            series.activity = series.activity * factor + series.used.sumThenReset();
            if (!series.isShown) {
                others.put(tenant, series.activity);
            } else if (!pinned.contains(tenant)) {
                shown.add(new Ranked(tenant, series.activity, held.getOrDefault(tenant, 0.0)));
            }
        });
        List<Ranked> ranked = new ArrayList<>();
        others.forEach((tenant, used) -> {
            Ranked other = new Ranked(tenant, used, held.getOrDefault(tenant, 0.0));
            if (other.activity() > 0 && isMember(tenant) && !ended.containsKey(tenant)) {
                ranked.add(other);
            }
        });
        ranked.sort(Comparator.comparingDouble(Ranked::activity).reversed());
        return ranked;
    }

    private Set<TenantId> shownUnpinned() {
        Set<TenantId> shown = shown();
        shown.removeAll(pinned);
        return shown;
    }

    /** Makes room to keep the tenant that this one replaces; false when that is not possible. */
    private boolean makeRoomFor(TenantId tenant, long now, Move move) {
        Set<TenantId> kept = kept();
        if (kept.contains(tenant) || kept.size() < most) {
            return true;
        }
        TenantId oldest = null;
        long since = now - KEPT_AT_LEAST;
        for (TenantId each : kept) {
            Series series = known.get(each);
            if (series != null && series.keptSince - since <= 0) {
                oldest = each;
                since = series.keptSince;
            }
        }
        if (oldest == null) {
            return false;
        }
        known.remove(oldest);
        ended.put(oldest, now);
        move.ended(oldest);
        return true;
    }

    private void show(Ranked ranked, Move move) {
        Series series = known.computeIfAbsent(ranked.tenant, Series::new);
        series.isShown = true;
        series.activity = ranked.used;
        move.counted(ranked.tenant, OTHER, series.tag);
    }

    private void keep(TenantId tenant, long now, Move move) {
        Series series = known.computeIfAbsent(tenant, Series::new);
        series.isShown = false;
        series.keptSince = now;
        move.counted(tenant, series.tag, OTHER);
    }
}
