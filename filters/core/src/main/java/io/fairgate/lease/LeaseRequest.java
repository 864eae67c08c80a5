package io.fairgate.lease;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request of a lease for permits of one pool or several, which are granted all at once.
 *
 * @param permits the number of permits, at least 1, by the name of the pool; in the order of the names
 * @param patience how long the caller waits for an answer; the place in the queue is kept for as long as the lease lasts
 * @param ttl the time to expiry, from the grant on, and while the lease waits from the end of the caller's patience; null when
 *     neither the request nor the grant changes the expiry
 */
public record LeaseRequest(
        Map<String, Integer> permits,
        Duration patience,
        @Nullable Duration ttl) {

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseRequest {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
        if (permits.isEmpty()) {
            throw new IllegalArgumentException("pools: none (expected: one or more)");
        }
        for (int each : permits.values()) {
            if (each < 1 || each > PoolSettings.MAX_PERMITS) {
                throw new IllegalArgumentException(
                        "permits: %d (expected: 1 to %d)".formatted(each, PoolSettings.MAX_PERMITS));
            }
        }
        LeaseTerm.requireBounded("patience", patience);
        if (ttl != null) {
            LeaseTerm.requireBounded("ttl", ttl);
        }
    }

    /** A request for permits of one pool. */
    public static LeaseRequest of(String pool, int permits, Duration patience, @Nullable Duration ttl) {
        return new LeaseRequest(Map.of(pool, permits), patience, ttl);
    }

    /**
     * The request to a pool. Its wait and hold are the longest, because the lease bounds both. The grant is processed on the
     * thread that released the permits, so that a caller that looks after its release sees the lease that got them.
     */
    public static PermitRequest ask(TenantId tenant, int permits) {
        return PermitRequest.of(tenant)
                .withHome(Runnable::run)
                .withPermits(permits)
                .withMaxWait(LeaseTerm.LONGEST)
                .withMaxHold(LeaseTerm.LONGEST);
    }
}
