package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;

/**
 * How a pool stands at one moment.
 *
 * @param permits its size
 * @param inFlight permits held; above {@code permits} only after the pool has shrunk
 * @param waiting requests that wait
 * @param pinned permits that the pinned request asks for, 0 when none is pinned
 * @param horizon permit-time that one permit in flight counts for now
 * @param tenants every tenant that is configured, or active, or still owes
 */
public record PoolStatus(
        int permits, int inFlight, int waiting, int pinned, Duration horizon, List<TenantStatus> tenants) {

    public PoolStatus {
        tenants = List.copyOf(tenants);
    }

    /**
     * How one tenant stands.
     *
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param share permits that it is entitled to now: the max-min fair share of what it holds and asks for
     * @param held permit-time of what is in flight now: permits times how long they have been held
     * @param lag permit-time that the tenant is behind (positive) or ahead (negative) of the pool's level
     */
    public record TenantStatus(
            TenantId tenant, double weight, int inFlight, int waiting, double share, Duration held, Duration lag) {}
}
