package io.fairgate.permit;

import java.time.Duration;
import java.util.Objects;

/**
 * What a pool is made of.
 *
 * @param permits requests in flight at most, at least 1
 * @param maxWaiting requests that wait at most, of all tenants together
 * @param maxWait how long a request waits at most before it is refused
 * @param maxHold how long a permit is held at most before its work is cancelled
 * @param leases how long those are held at most that are no request's
 * @param onClientLeft what becomes of a request that is at work upstream when its client leaves
 */
public record PoolSettings(
        int permits,
        int maxWaiting,
        Duration maxWait,
        Duration maxHold,
        LeaseBounds leases,
        OnClientLeft onClientLeft) {

    public static final int DEFAULT_MAX_WAITING = 1000;
    public static final Duration DEFAULT_MAX_WAIT = Duration.ofSeconds(2);
    public static final Duration DEFAULT_MAX_HOLD = Duration.ofSeconds(60);

    /** No pool is larger: twice this still fits an {@code int}. */
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
        Objects.requireNonNull(onClientLeft, "on-client-left");
    }

    /** What is begun upstream is finished. */
    public PoolSettings(int permits, int maxWaiting, Duration maxWait, Duration maxHold, LeaseBounds leases) {
        this(permits, maxWaiting, maxWait, maxHold, leases, OnClientLeft.FINISH);
    }

    /** With the usual bounds of leases. */
    public PoolSettings(int permits, int maxWaiting, Duration maxWait, Duration maxHold) {
        this(permits, maxWaiting, maxWait, maxHold, LeaseBounds.USUAL);
    }

    /** That many permits, and the defaults for the rest. */
    public static PoolSettings ofPermits(int permits) {
        return new PoolSettings(permits, DEFAULT_MAX_WAITING, DEFAULT_MAX_WAIT, DEFAULT_MAX_HOLD);
    }

    public PoolSettings withMaxWaiting(int maxWaiting) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, onClientLeft);
    }

    public PoolSettings withMaxWait(Duration maxWait) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, onClientLeft);
    }

    public PoolSettings withMaxHold(Duration maxHold) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, onClientLeft);
    }

    public PoolSettings withOnClientLeft(OnClientLeft onClientLeft) {
        return new PoolSettings(permits, maxWaiting, maxWait, maxHold, leases, onClientLeft);
    }

    static void requirePositive(String name, Duration value) {
        if (value.isZero() || value.isNegative() || value.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: more than 0, at most 365 days)".formatted(name, value));
        }
    }
}
