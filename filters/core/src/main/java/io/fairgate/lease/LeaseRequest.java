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
 * What a lease asks of pools: all of it at once, or nothing yet.
 *
 * @param permits how many at once, at least 1, by the name of the pool; in the order of the names
 * @param patience how long the caller waits for an answer; the place in the queue is kept for as long as the lease lasts
 * @param ttl until the lease expires, from the grant on, and while it waits from the end of the caller's patience; null when
 *     asking and granting do not change when it expires
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

    /** Asks one pool. */
    public static LeaseRequest of(String pool, int permits, Duration patience, @Nullable Duration ttl) {
        return new LeaseRequest(Map.of(pool, permits), patience, ttl);
    }

    /**
     * As a pool is asked: the lease bounds both the wait and the hold. What is granted is noted on the thread that gave it
     * back, so that whoever looks after a release sees whom it has served.
     */
    public static PermitRequest ask(TenantId tenant, int permits) {
        return PermitRequest.of(tenant)
                .withHome(Runnable::run)
                .withPermits(permits)
                .withMaxWait(LeaseTerm.LONGEST)
                .withMaxHold(LeaseTerm.LONGEST);
    }
}
