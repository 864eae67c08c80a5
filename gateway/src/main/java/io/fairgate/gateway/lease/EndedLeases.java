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
 * Leases that are over, with what a repeated call is told: for ten minutes, and of so many that the oldest of whoever has the
 * most may have to go sooner. From any thread; the lock is held for a few steps, and for one for each tenant when there are
 * too many.
 */
final class EndedLeases {

    private static final long REMEMBERED = Duration.ofMinutes(10).toNanos();
    /** Those of tenants that have no more leases, and may not even be there any more, are looked at that often. */
    private static final long LOOK_EVERY = Duration.ofMinutes(1).toNanos();

    private final int most;
    private final Scheduler time;
    /** Those of each tenant in the order in which they ended. Guarded by this. */
    private final Map<TenantId, Map<LeaseId, Ended>> ended = new HashMap<>();

    private int size;
    private long lookedAt;

    private record Ended(Throwable told, long at) {}

    EndedLeases(int most, Scheduler time) {
        this.most = most;
        this.time = time;
        this.lookedAt = now();
    }

    synchronized void put(TenantId tenant, LeaseId id, Throwable told) {
        long now = now();
        Map<LeaseId, Ended> own = ended.computeIfAbsent(tenant, first -> new LinkedHashMap<>());
        size -= own.remove(id) == null ? 0 : 1;
        own.put(id, new Ended(told, now));
        size++;
        removeOld(own, now);
        if (now - lookedAt >= LOOK_EVERY) {
            lookedAt = now;
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
        Iterator<Ended> oldest = largest.values().iterator();
        oldest.next();
        oldest.remove();
        size--;
        ended.values().removeIf(Map::isEmpty);
    }

    /** What is told of it; null when it is not among them. */
    synchronized @Nullable Throwable get(TenantId tenant, LeaseId id) {
        Ended found = ended.getOrDefault(tenant, Map.of()).get(id);
        return found == null || now() - found.at >= REMEMBERED ? null : found.told;
    }

    /** How many tenants have some. */
    synchronized int tenants() {
        return ended.size();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
