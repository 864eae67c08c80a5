package io.fairgate.spring.explain;

import io.fairgate.spring.explain.Explanation.Holder;
import io.fairgate.spring.explain.Explanation.Standing;
import io.fairgate.status.PoolStatus.TenantStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who held the permits of each pool, in intervals of about a second, for as long as there is room: {@value #MOST_ROWS} rows of one
 * tenant in one interval, some ten megabytes, and no longer than an hour. An interval in which a pool was idle takes no room.
 *
 * <p>Of each interval, the {@value #TENANTS} tenants with the most permit-time are kept, and as many of those that waited longest.
 */
public final class UsageHistory {

    static final int TENANTS = 10;
    static final int MOST_ROWS = 100_000;
    private static final Duration LONGEST = Duration.ofHours(1);
    /** Many looks at decisions must not make many intervals. */
    private static final Duration SHORTEST = Duration.ofMillis(100);

    private final Map<String, Deque<Interval>> byPool = new HashMap<>();
    private final Map<String, PoolUse> before = new HashMap<>();
    private @Nullable Instant addedAt;
    private int rows;

    /** @param permitSeconds the permit-time in the interval; the rest is as at its end */
    private record Row(double permitSeconds, Standing standing) {}

    private record Interval(Instant from, Instant to, PoolUse end, Map<String, Row> tenants) {

        /** The part of the interval that lies in another one. */
        double partIn(Instant first, Instant last) {
            Instant begin = first.isAfter(from) ? first : from;
            Instant stop = last.isBefore(to) ? last : to;
            double length = seconds(Duration.between(from, to));
            return length <= 0 ? 0 : Math.max(0, seconds(Duration.between(begin, stop)) / length);
        }
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    /**
     * Adds the state of all pools at a moment: with the one before, it makes an interval. A pool that is missing is forgotten. A state that
     * comes too soon after the one before is ignored.
     */
    public synchronized void add(Instant now, Map<String, PoolUse> pools) {
        Instant since = addedAt;
        if (since != null && Duration.between(since, now).abs().compareTo(SHORTEST) < 0) {
            return;
        }
        addedAt = now;
        before.keySet().retainAll(pools.keySet());
        pools.forEach((pool, use) -> {
            PoolUse last = before.put(pool, use);
            if (since != null && last != null && since.isBefore(now)) {
                add(pool, interval(since, now, last, use));
            }
        });
        dropOld(now);
    }

    private void add(String pool, Interval interval) {
        if (!interval.tenants().isEmpty()) {
            byPool.computeIfAbsent(pool, p -> new ArrayDeque<>()).add(interval);
            rows += interval.tenants().size();
        }
    }

    private static Interval interval(Instant from, Instant to, PoolUse before, PoolUse now) {
        Map<String, Double> used = new HashMap<>();
        now.permitSeconds().forEach((tag, all) -> {
            double more = all - before.permitSeconds().getOrDefault(tag, 0.0);
            if (more > 0) {
                used.put(tag, more);
            }
        });
        Map<String, Row> kept = new LinkedHashMap<>();
        Stream.concat(
                        most(used.keySet(), tag -> used.getOrDefault(tag, 0.0)),
                        most(now.tenants().keySet(), tag -> longestWait(now, tag)))
                .forEach(tag -> kept.computeIfAbsent(
                        tag,
                        t -> new Row(
                                used.getOrDefault(t, 0.0),
                                standing(now.tenants().getOrDefault(t, List.of())))));
        return new Interval(
                from,
                to,
                new PoolUse(now.permits(), now.inFlight(), now.waiting(), Map.of(), Map.of()),
                Map.copyOf(kept));
    }

    /** The tags with the largest values above 0. */
    private static Stream<String> most(Set<String> tags, ToDoubleFunction<String> value) {
        return tags.stream()
                .filter(tag -> value.applyAsDouble(tag) > 0)
                .sorted(Comparator.comparingDouble(value).reversed())
                .limit(TENANTS);
    }

    private static double longestWait(PoolUse pool, String tag) {
        return pool.tenants().getOrDefault(tag, List.of()).stream()
                .mapToDouble(tenant -> seconds(tenant.oldestWait()))
                .max()
                .orElse(0);
    }

    private static Standing standing(List<TenantStatus> tenants) {
        return new Standing(
                tenants.stream().mapToInt(TenantStatus::inFlight).sum(),
                tenants.stream().mapToInt(TenantStatus::waiting).sum(),
                tenants.stream().mapToDouble(TenantStatus::share).sum(),
                tenants.stream()
                        .mapToDouble(tenant -> seconds(tenant.lag()))
                        .max()
                        .orElse(0));
    }

    private void dropOld(Instant now) {
        for (Deque<Interval> intervals : byPool.values()) {
            while (!intervals.isEmpty() && intervals.peekFirst().to().isBefore(now.minus(LONGEST))) {
                drop(intervals);
            }
        }
        while (rows > MOST_ROWS) {
            byPool.values().removeIf(Deque::isEmpty);
            drop(Collections.min(
                    byPool.values(),
                    Comparator.comparing(intervals -> intervals.getFirst().to())));
        }
        byPool.values().removeIf(Deque::isEmpty);
    }

    private void drop(Deque<Interval> intervals) {
        rows -= intervals.removeFirst().tenants().size();
    }

    /**
     * What the pool was like from {@code from} to {@code to}; null when that is not kept any more, or not yet.
     *
     * @param tenant the tag of a tenant in meters
     */
    public synchronized @Nullable Explanation explain(String pool, @Nullable String tenant, Instant from, Instant to) {
        List<Interval> covered = new ArrayList<>();
        Map<String, Double> used = new HashMap<>();
        for (Interval interval : byPool.getOrDefault(pool, new ArrayDeque<>())) {
            boolean isAtOnce = from.equals(to)
                    && !interval.from().isAfter(to)
                    && !interval.to().isBefore(to);
            double part = isAtOnce ? 1 : interval.partIn(from, to);
            if (part > 0) {
                covered.add(interval);
                interval.tenants().forEach((tag, row) -> used.merge(tag, part * row.permitSeconds(), Double::sum));
            }
        }
        if (covered.isEmpty()) {
            return null;
        }
        Interval last = covered.get(covered.size() - 1);
        double all = used.values().stream().mapToDouble(seconds -> seconds).sum();
        List<Holder> holders = most(used.keySet(), tag -> used.getOrDefault(tag, 0.0))
                .map(tag -> holder(tag, used.getOrDefault(tag, 0.0), all))
                .toList();
        PoolUse end = last.end();
        return new Explanation(pool, end.permits(), end.inFlight(), end.waiting(), latest(covered, tenant), holders);
    }

    private static Holder holder(String tag, double seconds, double all) {
        return new Holder(tag, rounded(seconds), rounded(seconds / all));
    }

    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }

    private static @Nullable Standing latest(List<Interval> intervals, @Nullable String tenant) {
        Standing latest = null;
        for (Interval interval : intervals) {
            Row row = tenant == null ? null : interval.tenants().get(tenant);
            latest = row == null ? latest : row.standing();
        }
        return latest;
    }
}
