package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Leases that have ended, with the error that a repeated call gets. They are remembered for ten minutes; when there are too
 * many, the oldest lease of the tenant with the most is removed earlier. Thread-safe. The lock is held for a few steps;
 * once a minute, and when there are too many, for a step per tenant.
 */
final class LeaseTombstones {

    private static final long REMEMBERED = Duration.ofMinutes(10).toNanos();
    /** How often old leases are removed, also those of tenants that have no new leases or no longer exist. */
    private static final long CLEAN_EVERY = Duration.ofMinutes(1).toNanos();

    private final int most;
    private final Scheduler time;
    /** The ended leases of each tenant, in the order in which they ended. Guarded by this. */
    private final Map<TenantId, Map<LeaseId, Ended>> ended = new HashMap<>();

    private int size;
    private long cleanedAt;

    private record Ended(Throwable error, long at) {}

    LeaseTombstones(int most, Scheduler time) {
        this.most = most;
        this.time = time;
        this.cleanedAt = now();
    }

    synchronized void put(TenantId tenant, LeaseId id, Throwable error) {
        long now = now();
        Map<LeaseId, Ended> own = ended.computeIfAbsent(tenant, first -> new LinkedHashMap<>());
        size -= own.remove(id) == null ? 0 : 1;
        own.put(id, new Ended(error, now));
        size++;
        removeOld(own, now);
        if (now - cleanedAt >= CLEAN_EVERY) {
            cleanedAt = now;
            ended.values().forEach(each -> removeOld(each, now));
            ended.values().removeIf(Map::isEmpty);
        }
        if (size > most) {
            removeOldestOfMost();
        }
    }

    private void removeOld(Map<LeaseId, Ended> own, long now) {
        Iterator<Ended> oldest = own.values().iterator();
        while (oldest.hasNext() && now - oldest.next().at >= REMEMBERED) {
            oldest.remove();
            size--;
        }
    }

    private void removeOldestOfMost() {
        Map<LeaseId, Ended> largest =
                ended.values().stream().max(Comparator.comparingInt(Map::size)).orElseThrow();
        largest.remove(largest.keySet().iterator().next());
        size--;
        ended.values().removeIf(Map::isEmpty);
    }

    /** The error for a repeated call; null when the lease is not remembered. */
    synchronized @Nullable Throwable get(TenantId tenant, LeaseId id) {
        Ended found = ended.getOrDefault(tenant, Map.of()).get(id);
        return found == null || now() - found.at >= REMEMBERED ? null : found.error;
    }

    /** How many tenants have remembered leases. */
    synchronized int tenants() {
        return ended.size();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
