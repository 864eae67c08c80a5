package io.fairgate.lease;

import java.time.Duration;

/**
 * How long a lease lasts.
 *
 * @param ttl the time to expiry, counted from the grant and from each extension, and while the lease waits from the last
 *     call for it; a lease with zero expires at once
 * @param maxHold the longest time that a lease can last with extensions, counted from its first grant, and before that from
 *     its opening
 * @param remembered how long no other lease of its tenant can have its id after its end; zero when its id is free at once. A lease that ends
 *     without permits and without a place in a queue is not remembered
 */
public record LeaseTerm(Duration ttl, Duration maxHold, Duration remembered) {

    /** The longest duration: far beyond any use, and many times its nanoseconds still fit a {@code long}. */
    public static final Duration LONGEST = Duration.ofDays(365);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseTerm {
        requireBounded("ttl", ttl);
        requireBounded("max-hold", maxHold);
        requireBounded("remembered", remembered);
    }

    /** Its id is free as soon as it has ended. */
    public LeaseTerm(Duration ttl, Duration maxHold) {
        this(ttl, maxHold, Duration.ZERO);
    }

    /** Throws {@link IllegalArgumentException} when a duration is negative, or longer than {@link #LONGEST}. */
    public static void requireBounded(String name, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("%s: %s (expected: 0 to 365 days)".formatted(name, value));
        }
    }
}
