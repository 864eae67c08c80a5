package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a pool stands at one moment, tenant by tenant. A tenant or group that is not here is idle and owes nothing.
 *
 * @param permits its size
 * @param inFlight permits held; above {@code permits} only after the pool has shrunk
 * @param waiting requests that wait
 * @param collecting permits that the request asks for which free permits are collected for; 0 when there is none
 * @param gain permit-time that one permit in flight counts for now
 * @param tenants every tenant that holds permits, waits for some, or was ahead of the level when it last did and so still owes
 * @param groups every group of tenants of which the same is true
 */
public record PoolStatus(
        int permits,
        int inFlight,
        int waiting,
        int collecting,
        Duration gain,
        List<TenantStatus> tenants,
        List<GroupStatus> groups) {

    public PoolStatus {
        tenants = List.copyOf(tenants);
        groups = List.copyOf(groups);
    }

    /**
     * How one tenant stands.
     *
     * @param parent the group that it is in, or null
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param share permits that it is entitled to now: the max-min fair share of what it holds and asks for
     * @param held permit-time of what is in flight now: permits times how long they have been held
     * @param lag permit-time that the tenant is behind (positive) or ahead (negative) of the level of its siblings, which
     *     are all in the pool when there are no groups
     */
    public record TenantStatus(
            TenantId tenant,
            @Nullable String parent,
            double weight,
            int inFlight,
            int waiting,
            double share,
            Duration held,
            Duration lag) {}

    /**
     * How one group stands, all in it together.
     *
     * @param parent the group that it is in, or null
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param share permits that it is entitled to now
     * @param lag permit-time that the group is behind (positive) or ahead (negative) of the level of its siblings
     */
    public record GroupStatus(
            String group,
            @Nullable String parent,
            double weight,
            int inFlight,
            int waiting,
            double share,
            Duration lag) {}
}
