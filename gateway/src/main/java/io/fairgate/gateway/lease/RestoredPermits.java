package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What tenants hold that no pool has granted: that must not be more than they could ever have been granted. From any thread; the
 * lock is held for a few steps.
 */
final class RestoredPermits {

    private record Place(TenantId tenant, String pool) {}

    private record Restored(TenantId tenant, Map<String, Integer> permits) {}

    // Guarded by this.
    private final Map<LeaseId, Restored> leases = new HashMap<>();
    private final Map<Place, Integer> sums = new HashMap<>();

    /** Counts these, and tells how many its tenant has of each pool by now; null, and nothing has changed, when it is counted. */
    synchronized @Nullable Map<String, Integer> add(LeaseId lease, TenantId tenant, Map<String, Integer> permits) {
        if (leases.containsKey(lease)) {
            return null;
        }
        leases.put(lease, new Restored(tenant, new HashMap<>(permits)));
        Map<String, Integer> together = new TreeMap<>();
        permits.forEach(
                (pool, count) -> together.put(pool, sums.merge(new Place(tenant, pool), count, RestoredPermits::sum)));
        return together;
    }

    /** Beyond counting is more than there can be. */
    private static int sum(int one, int other) {
        return (int) Math.min(Integer.MAX_VALUE, (long) one + other);
    }

    synchronized void remove(LeaseId lease) {
        Restored restored = leases.remove(lease);
        if (restored != null) {
            restored.permits.forEach((pool, count) -> subtract(new Place(restored.tenant, pool), count));
        }
    }

    /** What it held of one pool has come back. */
    synchronized void remove(LeaseId lease, String pool) {
        Restored restored = leases.get(lease);
        Integer count = restored == null ? null : restored.permits.remove(pool);
        if (restored != null && count != null) {
            subtract(new Place(restored.tenant, pool), count);
        }
    }

    private void subtract(Place place, int count) {
        sums.computeIfPresent(place, (same, sum) -> sum == count ? null : sum - count);
    }
}
