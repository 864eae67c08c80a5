package io.fairgate.replay;

import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.Map;

/**
 * What one tenant got of a pool in some time.
 *
 * @param requests that asked for permits and ended their wait in that time
 * @param granted of these, those that got their permits
 * @param left of these, those whose clients left while they waited
 * @param waiting beside these, those that asked in that time and still wait at its end
 * @param refused of these, those that were refused, by reason
 * @param permitSeconds the permit-time that it used in that time: permits times the seconds for which they were held
 * @param waitP50 the median of the waits of granted requests; zero when there are none
 * @param waitP99 the 99th percentile
 */
public record TenantUse(
        long requests,
        long granted,
        long left,
        long waiting,
        Map<RefusalReason, Long> refused,
        double permitSeconds,
        Duration waitP50,
        Duration waitP99) {
    public TenantUse {
        refused = Map.copyOf(refused);
    }
}
