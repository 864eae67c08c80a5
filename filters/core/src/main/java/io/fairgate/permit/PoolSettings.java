package io.fairgate.permit;

import io.fairgate.fairness.FairnessSettings;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a pool.
 *
 * @param permits requests in flight at most, at least 1
 * @param maxWaiting requests that wait at most, of all tenants together
 * @param maxWait the longest wait; after it a request is refused
 * @param maxHold the longest hold; after it the work is cancelled
 * @param leases the bounds of leases
 * @param memory how long the pool remembers what a tenant used beyond its share: the tenant pays it back within this time,
 *     and what is left is forgotten
 * @param maxCollect the longest time of one collection, in which free permits stay idle for a request that needs more than
 *     are free, while other requests wait; null for half of {@code maxWait}
 * @param onClientLeft what happens to a request that its upstream is working on when its client leaves
 */
public record PoolSettings(
        int permits,
        int maxWaiting,
        Duration maxWait,
        Duration maxHold,
        LeaseBounds leases,
        Duration memory,
        @Nullable Duration maxCollect,
        OnClientLeft onClientLeft) {

    public static final int DEFAULT_MAX_WAITING = 1000;
    public static final Duration DEFAULT_MAX_WAIT = Duration.ofSeconds(2);
    public static final Duration DEFAULT_MAX_HOLD = Duration.ofSeconds(60);

    /** The largest pool: twice this number still fits an {@code int}. */
    public static final int MAX_PERMITS = 1_000_000;

    /** The longest wait or hold: far beyond any use, and its nanoseconds still fit a {@code long}. */
    public static final Duration MAX_DURATION = Duration.ofDays(365);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public PoolSettings {
        if (permits < 1 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException("permits: %d (expected: 1 to %d)".formatted(permits, MAX_PERMITS));
        }
        if (maxWaiting < 0) {
            throw new IllegalArgumentException("max-waiting: %d (expected: >= 0)".formatted(maxWaiting));
        }
        requirePositive("max-wait", maxWait);
        requirePositive("max-hold", maxHold);
        requirePositive("memory", memory);
        if (maxCollect != null) {
            requirePositive("max-collect", maxCollect);
        }
        Objects.requireNonNull(onClientLeft, "on-client-left");
    }

    /** With the default memory, collections of at most half of {@code maxWait}, and {@link OnClientLeft#FINISH}. */
    public PoolSettings(int permits, int maxWaiting, Duration maxWait, Duration maxHold, LeaseBounds leases) {
        this(permits, maxWaiting, maxWait, maxHold, leases, FairnessSettings.DEFAULT_MEMORY, null, OnClientLeft.FINISH);
    }

    /** With the default bounds of leases. */
    public PoolSettings(int permits, int maxWaiting, Duration maxWait, Duration maxHold) {
        this(permits, maxWaiting, maxWait, maxHold, LeaseBounds.USUAL);
    }

    /** A pool of {@code permits}, with the defaults for the rest. */
    public static PoolSettings ofPermits(int permits) {
        return new PoolSettings(permits, DEFAULT_MAX_WAITING, DEFAULT_MAX_WAIT, DEFAULT_MAX_HOLD);
    }

    public PoolSettings withPermits(int permits) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, memory, maxCollect, onClientLeft);
    }

    public PoolSettings withMaxWaiting(int maxWaiting) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, memory, maxCollect, onClientLeft);
    }

    public PoolSettings withMaxWait(Duration maxWait) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, memory, maxCollect, onClientLeft);
    }

    public PoolSettings withMaxHold(Duration maxHold) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, memory, maxCollect, onClientLeft);
    }

    /** The settings of the scheduler. */
    public FairnessSettings fairness() {
        Duration half = maxWait.dividedBy(2);
        return new FairnessSettings(
                memory, maxCollect != null ? maxCollect : half.isZero() ? Duration.ofNanos(1) : half);
    }

    static void requirePositive(String name, Duration value) {
        if (value.isZero() || value.isNegative() || value.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: more than 0, at most 365 days)".formatted(name, value));
        }
    }
}
