package io.fairgate.spring.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * What has happened behind a pool since the start, to the requests of all tenants together.
 *
 * @param holds holds that have ended
 * @param holdSeconds the sum of how long they lasted
 * @param failures of requests after they were admitted, by reason
 */
public record UpstreamTotals(long holds, double holdSeconds, Map<String, Long> failures) {

    public static final UpstreamTotals NONE = new UpstreamTotals(0, 0, Map.of());

    public UpstreamTotals {
        failures = Map.copyOf(failures);
    }

    /** The mean of the holds that have ended since an earlier look; zero when there are none. */
    public double meanHoldSecondsSince(UpstreamTotals earlier) {
        long ended = holds - earlier.holds;
        return ended <= 0 ? 0 : Math.max(0, holdSeconds - earlier.holdSeconds) / ended;
    }

    /** The failures since an earlier look, by reason. A reason without one is missing. */
    public Map<String, Long> failuresSince(UpstreamTotals earlier) {
        Map<String, Long> since = new TreeMap<>();
        failures.forEach((reason, count) -> {
            long more = count - earlier.failures.getOrDefault(reason, 0L);
            if (more > 0) { // Fewer after the series of a tenant have ended.
                since.put(reason, more);
            }
        });
        return since;
    }
}
