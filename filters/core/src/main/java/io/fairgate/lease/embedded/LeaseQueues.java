package io.fairgate.lease.embedded;

import io.fairgate.lease.WaitingLeases;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;

/**
 * The acquisitions that wait in each pool, by tenant, in the order of arrival. A pool serves the leases of a tenant in that
 * order, among the tenant's other requests. Guarded by the lock of {@link LeaseLedger}.
 */
final class LeaseQueues {

    private record Key(String pool, TenantId tenant) {
        static Key of(LeaseAcquisition acquisition) {
            return new Key(acquisition.pool, acquisition.lease.tenant);
        }
    }

    private final Map<Key, LeaseQueue> queues = new HashMap<>();

    private int size;

    int size() {
        return size;
    }

    void add(LeaseAcquisition acquisition) {
        size++;
        queues.computeIfAbsent(Key.of(acquisition), key -> new LeaseQueue()).add(acquisition);
    }

    void remove(LeaseAcquisition acquisition) {
        size--;
        queues.computeIfPresent(Key.of(acquisition), (key, queue) -> {
            queue.remove(acquisition);
            return queue.size() == 0 ? null : queue;
        });
    }

    /** The place among the waiting acquisitions of its tenant in its pool; the first is 1. */
    int place(LeaseAcquisition acquisition) {
        LeaseQueue queue = queues.get(Key.of(acquisition));
        return queue == null ? 1 : queue.place(acquisition);
    }

    /** Takes time in proportion to the number of queues. */
    WaitingLeases waiting(String pool, long now) {
        int leases = 0;
        long permits = 0;
        long longest = 0;
        for (Map.Entry<Key, LeaseQueue> queue : queues.entrySet()) {
            if (queue.getKey().pool.equals(pool)) {
                leases += queue.getValue().size();
                permits += queue.getValue().permits;
                longest = Math.max(longest, now - queue.getValue().firstRequestedAt());
            }
        }
        return new WaitingLeases(leases, permits, longest);
    }
}
