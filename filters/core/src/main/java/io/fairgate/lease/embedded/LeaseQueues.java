package io.fairgate.lease.embedded;

import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;

/**
 * Which leases wait in which pool, by tenant, in the order in which they came. A pool serves those of one tenant in that
 * order, beside whatever else the tenant has waiting there. Guarded by the lock of {@link OpenLeases}.
 */
final class LeaseQueues {

    private record Key(String pool, TenantId tenant) {
        static Key of(Demand demand) {
            return new Key(demand.pool(), demand.lease().tenant);
        }
    }

    private final Map<Key, LeaseQueue> queues = new HashMap<>();

    private int size;

    /** How many leases wait. */
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

    /** Of one that waits. */
    int place(Demand demand) {
        LeaseQueue queue = queues.get(Key.of(demand));
        return queue == null ? 1 : queue.place(demand);
    }

    /** Takes a step for each tenant whose leases wait somewhere. */
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
