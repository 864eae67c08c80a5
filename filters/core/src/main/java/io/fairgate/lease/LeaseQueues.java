package io.fairgate.lease;

import io.fairgate.tenant.TenantId;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which leases wait in which pool, by tenant, in the order in which they came. A pool serves those of one tenant in that
 * order, beside whatever else the tenant has waiting there. Guarded by the lock of {@link OpenLeases}.
 */
final class LeaseQueues {

    private record Queue(String pool, TenantId tenant) {}

    private final Map<Queue, Set<Demand>> queues = new HashMap<>();

    private int size;

    private static Queue of(Demand demand) {
        return new Queue(demand.pool(), demand.lease().tenant);
    }

    /** How many leases wait. */
    int size() {
        return size;
    }

    void add(Demand demand) {
        size++;
        queues.computeIfAbsent(of(demand), queue -> new LinkedHashSet<>()).add(demand);
    }

    void remove(Demand demand) {
        queues.computeIfPresent(of(demand), (queue, waiting) -> {
            if (waiting.remove(demand)) {
                size--;
            }
            return waiting.isEmpty() ? null : waiting;
        });
    }

    /** Takes as many steps as there are before it. */
    int place(Demand demand) {
        int place = 1;
        for (Demand before : queues.getOrDefault(of(demand), Set.of())) {
            if (before == demand) {
                break;
            }
            place++;
        }
        return place;
    }

    /** Takes a step for each lease that waits there. */
    PoolDemand demand(String pool, long now) {
        int leases = 0;
        long permits = 0;
        long longest = 0;
        for (Map.Entry<Queue, Set<Demand>> queue : queues.entrySet()) {
            if (queue.getKey().pool.equals(pool)) {
                Collection<Demand> waiting = queue.getValue();
                leases += waiting.size();
                for (Demand each : waiting) {
                    permits += each.permits();
                    longest = Math.max(longest, now - each.askedAt());
                }
            }
        }
        return new PoolDemand(leases, permits, longest);
    }
}
