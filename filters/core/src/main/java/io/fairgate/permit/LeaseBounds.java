package io.fairgate.permit;

import java.time.Duration;

/**
 * The longest times of leases of a pool's permits. A holder that asks for more gets this much, and is not refused.
 *
 * @param maxTtl the longest time to expiry, counted from the last sign of life of the holder
 * @param maxHold the longest hold, counted from the grant, however often the lease is extended
 */
public record LeaseBounds(Duration maxTtl, Duration maxHold) {

    /** A time to expiry of five minutes, and a hold of 24 hours. */
    public static final LeaseBounds USUAL = new LeaseBounds(Duration.ofMinutes(5), Duration.ofHours(24));

    /** No practical bound: 365 days each. */
    public static final LeaseBounds WIDEST = new LeaseBounds(Duration.ofDays(365), Duration.ofDays(365));

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseBounds {
        PoolSettings.requirePositive("max-ttl", maxTtl);
        PoolSettings.requirePositive("max-hold", maxHold);
    }
}
