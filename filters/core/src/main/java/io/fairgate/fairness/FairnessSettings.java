package io.fairgate.fairness;

import java.time.Duration;

/**
 * The constants of the rule by which permits are granted.
 *
 * @param memory how long the pool remembers what a tenant used beyond its share: the tenant pays it back within this time,
 *     and what is left is forgotten. Accounts of permit-time differ by at most what the whole pool yields in this time
 * @param maxCollect the longest time of one collection, in which free permits stay idle for a request that needs more than
 *     are free, while other requests wait; {@link #UNBOUNDED} for no such limit
 */
public record FairnessSettings(Duration memory, Duration maxCollect) {

    /** Ten minutes. */
    public static final Duration DEFAULT_MEMORY = Duration.ofMinutes(10);

    /** Longer than any hold. */
    public static final Duration UNBOUNDED = Duration.ofDays(365);

    /** The default memory, and collections of at most one second. */
    public static final FairnessSettings USUAL = new FairnessSettings(DEFAULT_MEMORY, Duration.ofSeconds(1));

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public FairnessSettings {
        requireUpToAYear("memory", memory);
        requireUpToAYear("max-collect", maxCollect);
    }

    private static void requireUpToAYear(String name, Duration value) {
        if (value.isZero() || value.isNegative() || value.compareTo(UNBOUNDED) > 0) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: more than 0, at most 365 days)".formatted(name, value));
        }
    }

    public FairnessSettings withMemory(Duration memory) {
        return new FairnessSettings(memory, maxCollect);
    }

    public FairnessSettings withMaxCollect(Duration maxCollect) {
        return new FairnessSettings(memory, maxCollect);
    }
}
