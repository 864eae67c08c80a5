package io.fairgate.permit;

import java.time.Duration;

/**
 * How long leases of a pool's permits last at most. What a holder asks for beyond that is cut, not refused.
 *
 * @param maxTtl until a lease expires of which nothing is heard
 * @param maxHold from the grant on, however often it is extended
 */
public record LeaseBounds(Duration maxTtl, Duration maxHold) {

    /** Five minutes of silence, and a day in all. */
    public static final LeaseBounds USUAL = new LeaseBounds(Duration.ofMinutes(5), Duration.ofHours(24));

    /** What bounds nobody. */
    public static final LeaseBounds WIDEST = new LeaseBounds(Duration.ofDays(365), Duration.ofDays(365));

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseBounds {
        PoolSettings.requirePositive("max-ttl", maxTtl);
        PoolSettings.requirePositive("max-hold", maxHold);
    }
}
