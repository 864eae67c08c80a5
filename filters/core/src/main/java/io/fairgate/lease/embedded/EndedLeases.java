package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The ids of leases that have ended and are still remembered: of each tenant the latest ones. A put takes a few steps, and a step per
 * tenant once a minute. Guarded by the lock of {@link LeaseLedger}. All times are nanoseconds of its clock.
 */
final class EndedLeases {

    static final int MOST_OF_A_TENANT = 10_000;

    /** How often old leases are removed, also those of tenants that have no new leases or no longer exist. */
    private static final long CLEAN_EVERY = Duration.ofMinutes(1).toNanos();

    /** Until when each lease is remembered, by tenant, in the order in which they ended. */
    private final Map<TenantId, LinkedHashMap<LeaseId, Long>> ended = new HashMap<>();

    private long cleanedAt;

    EndedLeases(long now) {
        this.cleanedAt = now;
    }

    void put(TenantId tenant, LeaseId id, long remembered, long now) {
        if (remembered <= 0) {
            return;
        }
        LinkedHashMap<LeaseId, Long> own = ended.computeIfAbsent(tenant, first -> new LinkedHashMap<>());
        own.remove(id);
        own.put(id, now + remembered);
        removeOld(own, now);
        if (own.size() > MOST_OF_A_TENANT) {
            own.remove(own.keySet().iterator().next());
        }
        if (now - cleanedAt >= CLEAN_EVERY) {
            cleanedAt = now;
            ended.values().forEach(each -> removeOld(each, now));
            ended.values().removeIf(Map::isEmpty);
        }
    }

    /** Up to the first one that is still remembered. */
    private static void removeOld(Map<LeaseId, Long> own, long now) {
        Iterator<Long> oldest = own.values().iterator();
        while (oldest.hasNext() && oldest.next() <= now) {
            oldest.remove();
        }
    }

    boolean contains(TenantId tenant, LeaseId id, long now) {
        LinkedHashMap<LeaseId, Long> own = ended.get(tenant);
        Long until = own == null ? null : own.get(id);
        return until != null && until > now;
    }

    /** How many tenants have remembered leases. */
    int tenants() {
        return ended.size();
    }
}
