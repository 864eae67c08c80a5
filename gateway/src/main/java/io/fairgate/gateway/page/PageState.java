package io.fairgate.gateway.page;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the page shows at one moment.
 *
 * @param actuator the path of the endpoints
 */
record PageState(Instant at, String version, String actuator, List<PoolState> pools) {

    /**
     * One pool. Without its backend only its name is known.
     *
     * @param isLost whether the backend of the pool cannot be reached
     * @param usedPart the permit-time used in the latest minute, as a part of what the pool had
     * @param minute what its requests got in the latest minute; null when nothing is recorded
     * @param inFlightBefore permits in flight in each of the latest seconds, the oldest first
     * @param waitingBefore the same for requests that wait
     * @param tenants those that hold permits, wait, owe, or asked in the latest minute: the worst off first
     * @param otherTenants how many are not shown
     */
    record PoolState(
            String pool,
            boolean isLost,
            int permits,
            int inFlight,
            int waiting,
            @Nullable Minute minute,
            @Nullable Double usedPart,
            List<Integer> inFlightBefore,
            List<Integer> waitingBefore,
            List<TenantState> tenants,
            int otherTenants) {}

    /**
     * One tenant in a pool.
     *
     * @param share permits that it is entitled to now
     * @param usedPermits permits that it held on average in the latest minute; null when nothing is recorded
     */
    record TenantState(
            String tenant,
            @Nullable String group,
            double share,
            @Nullable Double usedPermits,
            int inFlight,
            int waiting,
            double oldestWaitSeconds,
            double lagPermitSeconds,
            @Nullable Minute minute) {}

    /**
     * What requests got in the latest minute.
     *
     * @param refused by reason
     */
    record Minute(
            long requests,
            long granted,
            long left,
            Map<String, Long> refused,
            double waitP50Seconds,
            double waitP99Seconds) {}
}
