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
 * Which tenants have time series of their own; all others are counted together as {@link #OTHER}.
 *
 * <p><b>Shown</b> are the members that the policy names for it, and the K most active of the others. While there are fewer
 * than K, a member is shown from its first request on. After that {@link #review} decides, by permit-time, of which the
 * older counts for less: a tenant has to use clearly more than the least active one to take its place.
 *
 * <p><b>Kept</b> are up to K tenants that were shown before. What they do is counted as that of others, and their counters
 * stand still. A kept tenant that is shown again counts on from there, so that no series ever goes back. A kept tenant makes
 * room for another after an hour, and then its series ends; if it is shown again after that, a new series begins, at zero.
 *
 * <p>Each event is counted in one series: that of its tenant at that moment, or that of the others. So no event is lost or
 * counted twice, whatever joins or leaves (docs/decisions/0032-series-of-the-most-active-tenants.md).
 */
final class TenantSeries {

    /** Tag of all that have no series of their own. */
    static final String OTHER = "_other";

    private static final long HALF_LIFE = Duration.ofMinutes(5).toNanos();
    private static final long KEPT_AT_LEAST = Duration.ofHours(1).toNanos();
    /** Longer than Prometheus looks back for a series that has ended. */
    private static final long ENDED_FOR = Duration.ofMinutes(10).toNanos();
    /** How many times the activity of the least active one takes its place, so that two that are alike do not alternate. */
    private static final double CLEARLY = 1.5;

    private final int most;
    private final Scheduler time;
    private final HeavyTenants candidates;
    /** Those since the last review: what they used does not count for less yet. */
    private final HeavyTenants recentCandidates;

    private final Map<TenantId, Series> known = new ConcurrentHashMap<>();
    private volatile Policy policy;
    private volatile Runnable whenChanged = () -> {};
    /** False once a member has been counted as one of the others because there was no room for it. */
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
     * How active a tenant is at a review, in seconds of permit-time.
     *
     * @param used of the holds that have ended
     * @param held of what is in flight
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

    /** To be run when a tenant is shown outside of a review; it must be quick. */
    void whenChanged(Runnable action) {
        whenChanged = action;
    }

    // ---- as requests come ----

    /** The tenant tag of what happens now. */
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

    /** What the tenant used: permits times the seconds for which they were held. */
    void used(TenantId tenant, double seconds) {
        Series series = known.get(tenant);
        if (series != null) {
            series.used.add(seconds);
        } else if (isMember(tenant)) {
            recentCandidates.add(tenant, seconds);
        }
    }

    // ---- what is read ----

    /** The tag that the tenant has now; no tenant becomes one that is shown by being asked for. */
    String tagNow(TenantId tenant) {
        Series series = known.get(tenant);
        return series != null && series.isShown ? series.tag : OTHER;
    }

    /** Tenants with a series of their own that counts. */
    Set<TenantId> shown() {
        return tenants(true);
    }

    /** Tenants with a series that stands still. */
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

    /** The same before and after something was read that belongs together, and even, if no tenant changed tags meanwhile. */
    int version() {
        return version;
    }

    // ---- changes ----

    /** The policy is this one: members that are gone have no series, and those that it names have one. */
    synchronized void follow(Policy next) {
        policy = next;
        pinned = next.tenantsInMetrics();
        known.keySet().retainAll(next.members().keySet());
        ended.keySet().retainAll(next.members().keySet());
        if (takesAll) {
            // Nothing that they did has been counted as that of others.
            pinned.forEach(tenant -> known.computeIfAbsent(tenant, Series::new));
        }
        if (takesAll && next.members().size() - pinned.size() <= most) {
            // There is room for all: they are there before anything happens.
            next.members().keySet().forEach(tenant -> known.computeIfAbsent(tenant, Series::new));
        }
    }

    /** What is to be done where tenants are counted when one of them is shown, kept, or ends. */
    interface Move {
        /** What the tenant does is counted with another tag from now on. */
        void counted(TenantId tenant, String before, String now);

        /** Its series ends. */
        void ended(TenantId tenant);
    }

    /**
     * Decides anew which tenants are shown.
     *
     * @param held permit-time of what is in flight now, in seconds
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
                // The policy names them no longer.
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
     * Those that are not shown, the most active first.
     *
     * @param shown gets those that are
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

    /** So that the one that this tenant replaces can be kept: whether that is possible. */
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
