package io.fairgate.status;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a pool at one moment, tenant by tenant. A tenant or group that is missing here is idle and owes nothing.
 *
 * @param permits the size of the pool
 * @param inFlight permits held; above {@code permits} only after the pool has shrunk
 * @param free permits that nothing holds, by the sum that decides about grants; below zero only after the pool has shrunk
 * @param waiting requests that wait
 * @param collecting the size, in permits, of the request for which the pool collects free permits; 0 when it collects for
 *     none. Collections within a group or a tenant do not count
 * @param gain permit-time that one permit in flight counts for now
 * @param tenants every tenant that holds permits, waits for some, or is idle and still owes
 * @param groups the groups of tenants for which the same is true
 */
public record PoolStatus(
        int permits,
        int inFlight,
        int free,
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
     * The permits of all tenants, and the free ones. It is {@link #permits}, always. The accounts of tenants, the sum by which grants are decided,
     * and the permits of the fast path are kept apart. If they disagree, more or fewer permits can be granted than the pool has.
     */
    public int accounted() {
        return free + tenants.stream().mapToInt(TenantStatus::inFlight).sum();
    }

    /**
     * The state of one tenant.
     *
     * @param parent the group of the tenant, or null
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param share permits that the tenant is entitled to now: its max-min fair share, given what all tenants hold and ask for
     * @param held permit-time of the permits in flight: permits times how long they have been held
     * @param lag permit-time by which the tenant is behind (positive) or ahead of (negative) the virtual time of its group,
     *     or of the pool when the tenant is in no group
     * @param oldestWait how long the request of the tenant waits that has waited longest; zero when none waits
     * @param classes the classes of its requests; empty while its requests have none
     */
    public record TenantStatus(
            TenantId tenant,
            @Nullable String parent,
            double weight,
            int inFlight,
            int waiting,
            double share,
            Duration held,
            Duration lag,
            Duration oldestWait,
            List<ClassStatus> classes) {

        public TenantStatus {
            classes = List.copyOf(classes);
        }
    }

    /**
     * The requests of one class within a tenant.
     *
     * @param name the name of the class; empty for requests without a class
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param oldestWait how long the request waits that has waited longest; zero when none waits
     */
    public record ClassStatus(String name, int inFlight, int waiting, Duration oldestWait) {}

    /**
     * The state of one group: the sums over all of its tenants.
     *
     * @param parent the group that contains this group, or null
     * @param inFlight permits held
     * @param waiting requests that wait
     * @param share permits that the group is entitled to now
     * @param lag permit-time by which the group is behind (positive) or ahead of (negative) the virtual time of its parent
     * @param oldestWait how long the request of its tenants waits that has waited longest; zero when none waits
     */
    public record GroupStatus(
            String group,
            @Nullable String parent,
            double weight,
            int inFlight,
            int waiting,
            double share,
            Duration lag,
            Duration oldestWait) {}
}
