package io.fairgate.gateway.page;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the page shows at one moment.
 *
 * @param isStopping whether the gateway is not ready any more: it serves what it has, and ends
 */
record PageState(Instant at, boolean isStopping, List<PoolState> pools) {

    /**
     * One pool. Without its backend only its name is known.
     *
     * @param isLost whether the backend of the pool cannot be reached
     * @param permits that this gateway may give out; with gateways that share the pool, its part of it
     * @param latest what its requests got just now; null when nothing is recorded
     * @param upstream what happened behind the pool just now; null when nothing is known
     * @param fairness {@link FairnessIndex} of the latest minute in which a page was open; null while too few tenants wait
     * @param inFlightBefore permits in flight in each of the latest seconds, the oldest first; -1 while the backend was lost
     * @param waitingBefore the same for requests that wait
     * @param holders the tenants that hold most permits
     * @param tenants those that hold permits, wait, owe, or asked just now: the worst off first
     * @param otherTenants how many are not shown
     */
    record PoolState(
            String pool,
            boolean isLost,
            int permits,
            int inFlight,
            int waiting,
            @Nullable Use latest,
            @Nullable UpstreamUse upstream,
            @Nullable Double fairness,
            List<Integer> inFlightBefore,
            List<Integer> waitingBefore,
            List<Holder> holders,
            List<TenantState> tenants,
            int otherTenants) {}

    /**
     * What happened behind a pool in the latest minute, or in as much of it as is known.
     *
     * @param seconds how long that is
     * @param meanHoldSeconds of the holds that ended; null when none did
     * @param failed requests that were admitted and failed, by reason
     */
    record UpstreamUse(double seconds, @Nullable Double meanHoldSeconds, Map<String, Long> failed) {}

    /** A tenant that holds permits. */
    record Holder(String tenant, int permits) {}

    /**
     * One tenant in a pool.
     *
     * @param share permits that it is entitled to now; 0 when it wants none
     * @param latest what it got just now; null when it did not ask, or nothing is recorded
     */
    record TenantState(
            String tenant,
            @Nullable String group,
            double share,
            int inFlight,
            int waiting,
            double oldestWaitSeconds,
            double lagPermitSeconds,
            @Nullable Use latest) {

        /** How long its share takes to give what it is behind by. */
        double behindSeconds() {
            return lagPermitSeconds <= 0 ? 0 : lagPermitSeconds / Math.max(share, 0.01);
        }

        long refused() {
            return latest == null
                    ? 0
                    : latest.refused().values().stream()
                            .mapToLong(count -> count)
                            .sum();
        }

        double usedPermits() {
            return latest == null ? 0 : latest.permits();
        }
    }

    /**
     * What requests got in the latest minute, or in as much of it as is recorded.
     *
     * @param seconds how long that is
     * @param requests whose wait has ended in that time
     * @param refused by reason
     * @param permits that were held on average
     */
    record Use(
            double seconds,
            long requests,
            long left,
            Map<String, Long> refused,
            double permits,
            double waitP50Seconds,
            double waitP99Seconds) {}
}
