package io.fairgate.shares;

/**
 * The settings of one tenant, group or class in a pool.
 *
 * @param weight relative claim on a contended pool, greater than 0 and at most {@value #MAX_WEIGHT}
 * @param maxInFlight permits that the tenant holds at most, also while the pool is idle; {@link #UNBOUNDED} for no cap
 * @param maxWaiting requests of the tenant that wait at most; with {@link #UNBOUNDED} only the bound of the pool applies
 * @param guaranteed permits that the tenant gets before others when it wants them; lent to others while it does not
 * @param reserved permits that stay free for the tenant even while it is idle; at most {@code guaranteed}
 */
public record ShareSettings(double weight, int maxInFlight, int maxWaiting, int guaranteed, int reserved) {

    /** No bound; that of the pool still applies. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    /** Weights are bounded so that no sum of weights loses the smallest of them to rounding. */
    public static final double MAX_WEIGHT = 1_000_000;

    /** Weight 1, nothing guaranteed or reserved, and only the bounds of the pool. */
    public static final ShareSettings EQUAL = new ShareSettings(1, UNBOUNDED, UNBOUNDED, 0, 0);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public ShareSettings {
        if (!(weight > 0 && weight <= MAX_WEIGHT)) {
            throw new IllegalArgumentException("weight: %s (expected: > 0 and <= 1000000)".formatted(weight));
        }
        if (maxInFlight < 1) {
            throw new IllegalArgumentException("max-in-flight: %d (expected: >= 1)".formatted(maxInFlight));
        }
        if (maxWaiting < 0) {
            throw new IllegalArgumentException("max-waiting: %d (expected: >= 0)".formatted(maxWaiting));
        }
        if (guaranteed < 0 || guaranteed > maxInFlight) {
            throw new IllegalArgumentException(
                    "guaranteed: %d (expected: 0 to max-in-flight, %d)".formatted(guaranteed, maxInFlight));
        }
        if (reserved < 0 || reserved > guaranteed) {
            throw new IllegalArgumentException(
                    "reserved: %d (expected: 0 to guaranteed, %d)".formatted(reserved, guaranteed));
        }
    }

    /** {@link #EQUAL} with another weight. */
    public static ShareSettings ofWeight(double weight) {
        return EQUAL.withWeight(weight);
    }

    public ShareSettings withWeight(double weight) {
        return new ShareSettings(weight, maxInFlight, maxWaiting, guaranteed, reserved);
    }

    public ShareSettings withMaxInFlight(int maxInFlight) {
        return new ShareSettings(weight, maxInFlight, maxWaiting, guaranteed, reserved);
    }

    public ShareSettings withMaxWaiting(int maxWaiting) {
        return new ShareSettings(weight, maxInFlight, maxWaiting, guaranteed, reserved);
    }

    /** Sets both, because a reservation is a part of the guarantee. */
    public ShareSettings withGuaranteed(int guaranteed, int reserved) {
        return new ShareSettings(weight, maxInFlight, maxWaiting, guaranteed, reserved);
    }
}
