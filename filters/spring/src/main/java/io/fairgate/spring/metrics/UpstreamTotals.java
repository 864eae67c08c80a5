package io.fairgate.spring.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * What has happened behind a pool since it was made, to the requests of all tenants together. No number ever decreases.
 *
 * @param holds holds that have ended
 * @param holdSeconds the sum of how long they lasted
 * @param failures of requests after they were admitted, by reason
 */
public record UpstreamTotals(long holds, double holdSeconds, Map<String, Long> failures) {

    public UpstreamTotals {
        failures = Map.copyOf(failures);
    }

    /** The failures since an earlier look, by reason. A reason without one is missing. */
    public Map<String, Long> failuresSince(UpstreamTotals earlier) {
        Map<String, Long> since = new TreeMap<>();
        failures.forEach((reason, count) -> {
            long more = count - earlier.failures.getOrDefault(reason, 0L);
            if (more > 0) {
                since.put(reason, more);
            }
        });
        return since;
    }
}
