package io.fairgate.lease;

import io.fairgate.permit.PoolSettings;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request of a lease for permits of one pool or several, which are granted all at once.
 *
 * @param permits the number of permits, at least 1, by the name of the pool; in the order of the names
 * @param answerWithin how long the caller waits for an answer; the place in the queue is kept for as long as the lease lasts
 * @param ttl the time to expiry, from the grant on, and while the lease waits from the end of {@code answerWithin}; null when
 *     neither the request nor the grant changes the expiry
 */
public record LeaseRequest(
        Map<String, Integer> permits,
        Duration answerWithin,
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
        LeaseTerm.requireBounded("answer-within", answerWithin);
        if (ttl != null) {
            LeaseTerm.requireBounded("ttl", ttl);
        }
    }

    /** A request for permits of one pool. */
    public static LeaseRequest of(String pool, int permits, Duration answerWithin, @Nullable Duration ttl) {
        return new LeaseRequest(Map.of(pool, permits), answerWithin, ttl);
    }
}
