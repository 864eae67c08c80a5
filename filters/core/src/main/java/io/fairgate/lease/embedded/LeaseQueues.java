package io.fairgate.lease.embedded;

import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;

/**
 * The demands that wait in each pool, by tenant, in the order of arrival. A pool serves the leases of a tenant in that order,
 * among the tenant's other requests. Guarded by the lock of {@link OpenLeases}.
 */
final class LeaseQueues {

    private record Key(String pool, TenantId tenant) {
        static Key of(Demand demand) {
            return new Key(demand.pool(), demand.lease().tenant);
        }
    }

    private final Map<Key, LeaseQueue> queues = new HashMap<>();

    private int size;

    /** The number of leases that wait. */
    int size() {
        return size;
    }

    void add(Demand demand) {
        size++;
        queues.computeIfAbsent(Key.of(demand), key -> new LeaseQueue()).add(demand);
    }

    void remove(Demand demand) {
        queues.computeIfPresent(Key.of(demand), (key, queue) -> {
            if (queue.remove(demand)) {
                size--;
            }
            return queue.size() == 0 ? null : queue;
        });
    }

    /** The place of a waiting demand among those of its tenant in its pool; the first is 1. */
    int place(Demand demand) {
        LeaseQueue queue = queues.get(Key.of(demand));
        return queue == null ? 1 : queue.place(demand);
    }

    /** The demand of leases that wait in a pool. Takes time in proportion to the number of queues. */
    PoolDemand demand(String pool, long now) {
        int leases = 0;
        long permits = 0;
        long longest = 0;
        for (Map.Entry<Key, LeaseQueue> queue : queues.entrySet()) {
            if (queue.getKey().pool.equals(pool)) {
                leases += queue.getValue().size();
                permits += queue.getValue().permits();
                longest = Math.max(longest, now - queue.getValue().firstAskedAt());
            }
        }
        return new PoolDemand(leases, permits, longest);
    }
}
