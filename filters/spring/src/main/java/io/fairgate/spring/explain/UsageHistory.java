package io.fairgate.spring.explain;

import io.fairgate.spring.explain.Explanation.Holder;
import io.fairgate.spring.explain.Explanation.Standing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who held the permits of each pool, in intervals of about a second, for as long as there is room, and no longer than an hour: {@value
 * #MOST_ROWS} rows of one tenant in one interval, up to twenty megabytes. All times are in nanoseconds of a monotonic clock.
 *
 * <p>Of each interval, the ten tenants with the most permit-time are kept, the ten that waited longest, and the ten that held most permits.
 */
public final class UsageHistory {

    static final int MOST_ROWS = 100_000;
    private static final long LONGEST = Duration.ofHours(1).toNanos();
    /** Many looks at decisions must not make many intervals. */
    static final Duration SHORTEST = Duration.ofMillis(100);
    /** States are read one after the other, so an interval may seem to have a little more permit-time than it can have. */
    private static final double INEXACT = 1.05;

    private final Map<String, Deque<UsageInterval>> byPool = new HashMap<>();
    private final Map<String, PoolUse> before = new HashMap<>();
    /** The highest permit-time that was seen, by pool and tag: a hold that ends may be missing for a moment. */
    private final Map<String, Map<String, Double>> highest = new HashMap<>();

    private @Nullable Long addedAt;
    private int rows;

    /**
     * Adds the state of all pools at a moment: with the one before, it makes an interval. The next state of a pool that is missing begins
     * anew. A state that comes too soon after the one before is ignored.
     */
    public synchronized void add(long now, Map<String, PoolUse> pools) {
        Long since = addedAt;
        if (since != null && now - since < SHORTEST.toNanos()) {
            return;
        }
        addedAt = now;
        before.keySet().retainAll(pools.keySet());
        highest.keySet().retainAll(pools.keySet());
        pools.forEach((pool, use) -> {
            Map<String, Double> used = used(pool, use);
            PoolUse last = before.put(pool, use);
            if (since != null && last != null) {
                add(pool, UsageInterval.between(since, last, now, use, possible(used, since, last, now, use)));
            }
        });
        dropOld(now);
    }

    private void add(String pool, UsageInterval interval) {
        byPool.computeIfAbsent(pool, p -> new ArrayDeque<>()).add(interval);
        rows += interval.rows();
    }

    /** The permit-time beyond the highest that was seen before, by tag. */
    private Map<String, Double> used(String pool, PoolUse now) {
        Map<String, Double> most = highest.computeIfAbsent(pool, p -> new HashMap<>());
        most.keySet().retainAll(now.permitSeconds().keySet());
        Map<String, Double> used = new HashMap<>();
        now.permitSeconds().forEach((tag, all) -> {
            double more = all - most.getOrDefault(tag, 0.0);
            if (more > 0) {
                used.put(tag, more);
                most.put(tag, all);
            }
        });
        return used;
    }

    /**
     * When a member is removed, its holds count under another tag from then on, with all of their time. Nothing says how much of it is of
     * this interval, so all is scaled to what the pool can have given.
     */
    private static Map<String, Double> possible(
            Map<String, Double> used, long from, PoolUse before, long to, PoolUse now) {
        int permits = Math.max(now.permits(), Math.max(before.inFlight(), now.inFlight()));
        double most = INEXACT * permits * (to - from) / 1e9;
        double all = used.values().stream().mapToDouble(seconds -> seconds).sum();
        if (all <= most) {
            return used;
        }
        Map<String, Double> scaled = new HashMap<>();
        used.forEach((tag, seconds) -> scaled.put(tag, seconds * most / all));
        return scaled;
    }

    private void dropOld(long now) {
        for (Deque<UsageInterval> intervals : byPool.values()) {
            while (!intervals.isEmpty() && intervals.getFirst().to() < now - LONGEST) {
                drop(intervals);
            }
        }
        while (rows > MOST_ROWS) {
            byPool.values().removeIf(Deque::isEmpty);
            drop(Collections.min(
                    byPool.values(),
                    Comparator.comparingLong(intervals -> intervals.getFirst().to())));
        }
        byPool.values().removeIf(Deque::isEmpty);
    }

    private void drop(Deque<UsageInterval> intervals) {
        rows -= intervals.removeFirst().rows();
    }

    /**
     * What the pool was like from {@code from} to {@code to}; null when that is not kept any more, or not yet.
     *
     * @param tenant the id of a tenant
     */
    public synchronized @Nullable Explanation explain(String pool, @Nullable String tenant, long from, long to) {
        List<UsageInterval> covered = new ArrayList<>();
        Map<String, Double> used = new HashMap<>();
        double all = 0;
        double seconds = 0;
        for (UsageInterval interval : byPool.getOrDefault(pool, new ArrayDeque<>())) {
            double part = interval.partIn(from, to);
            if (part > 0) {
                covered.add(interval);
                seconds += part * interval.seconds();
                all += part * interval.permitSeconds();
                interval.holders().forEach((tag, own) -> used.merge(tag, part * own, Double::sum));
            }
        }
        if (covered.isEmpty()) {
            return null;
        }
        UsageInterval last = covered.get(covered.size() - 1);
        return new Explanation(
                pool,
                rounded(seconds),
                last.permits(),
                last.inFlight(),
                last.waiting(),
                latest(covered, tenant),
                holders(used, all));
    }

    private static List<Holder> holders(Map<String, Double> used, double all) {
        return used.entrySet().stream()
                .filter(own -> own.getValue() > 0)
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(UsageInterval.TENANTS)
                .map(own -> new Holder(own.getKey(), rounded(own.getValue()), rounded(own.getValue() / all)))
                .toList();
    }

    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }

    private static @Nullable Standing latest(List<UsageInterval> intervals, @Nullable String tenant) {
        Standing latest = null;
        for (UsageInterval interval : intervals) {
            Standing own = tenant == null ? null : interval.standings().get(tenant);
            latest = own == null ? latest : own;
        }
        return latest;
    }
}
