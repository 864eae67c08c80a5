package io.fairgate.spring.explain;

import io.fairgate.spring.explain.Explanation.Standing;
import io.fairgate.status.PoolStatus.TenantStatus;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A pool between two moments, on a monotonic clock.
 *
 * @param permitSeconds the permit-time that all tenants used
 * @param holders that of those that used most, by tag
 * @param standings of those that waited longest at the end, and of those that held most permits then, by id
 */
record UsageInterval(
        long from,
        long to,
        int permits,
        int inFlight,
        int waiting,
        double permitSeconds,
        Map<String, Double> holders,
        Map<String, Standing> standings) {

    static final int TENANTS = 10;

    /**
     * The interval between two states.
     *
     * @param used the permit-time that was used between them, by tag
     */
    static UsageInterval between(long from, PoolUse before, long to, PoolUse now, Map<String, Double> used) {
        Map<String, Double> holders = new LinkedHashMap<>();
        used.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(TENANTS)
                .forEach(own -> holders.put(own.getKey(), own.getValue()));
        return new UsageInterval(
                from,
                to,
                now.permits(),
                Math.max(before.inFlight(), now.inFlight()),
                Math.max(before.waiting(), now.waiting()),
                used.values().stream().mapToDouble(seconds -> seconds).sum(),
                holders,
                standings(now.tenants()));
    }

    private static Map<String, Standing> standings(List<TenantStatus> tenants) {
        Stream<TenantStatus> longest = tenants.stream()
                .filter(tenant -> tenant.waiting() > 0)
                .sorted(Comparator.comparing(TenantStatus::oldestWait).reversed())
                .limit(TENANTS);
        Stream<TenantStatus> most = tenants.stream()
                .filter(tenant -> tenant.inFlight() > 0)
                .sorted(Comparator.comparingInt(TenantStatus::inFlight).reversed())
                .limit(TENANTS);
        Map<String, Standing> standings = new LinkedHashMap<>();
        Stream.concat(longest, most)
                .forEach(tenant -> standings.put(tenant.tenant().value(), standing(tenant)));
        return standings;
    }

    private static Standing standing(TenantStatus tenant) {
        return new Standing(tenant.inFlight(), tenant.waiting(), tenant.share(), seconds(tenant.lag()));
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    int rows() {
        return Math.max(1, holders.size() + standings.size());
    }

    /** The part of the interval that lies in another one, or all of it when that is a moment in it. */
    double partIn(long first, long last) {
        if (first == last) {
            return from <= last && last <= to ? 1 : 0;
        }
        return Math.max(0, Math.min(last, to) - Math.max(first, from)) / (double) (to - from);
    }

    double seconds() {
        return (to - from) / 1e9;
    }
}
