package io.fairgate.gateway.lease;

import io.fairgate.tenant.TenantId;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** What tenants hold that no pool has granted: that must not be more than they could ever have been granted. */
final class RestoredPermits {

    private record Place(TenantId tenant, String pool) {}

    private final Map<Place, Integer> held = new ConcurrentHashMap<>();

    /** What the tenant would hold with these as well. */
    Map<String, Integer> with(TenantId tenant, Map<String, Integer> permits) {
        Map<String, Integer> sums = new TreeMap<>();
        permits.forEach((pool, count) -> sums.put(pool, count + held.getOrDefault(new Place(tenant, pool), 0)));
        return sums;
    }

    void add(TenantId tenant, Map<String, Integer> permits) {
        permits.forEach((pool, count) -> held.merge(new Place(tenant, pool), count, Integer::sum));
    }

    void remove(TenantId tenant, Map<String, Integer> permits) {
        permits.forEach((pool, count) -> held.computeIfPresent(new Place(tenant, pool), (place, sum) -> {
            int left = sum - count;
            return left == 0 ? null : left;
        }));
    }
}
