package io.fairgate.lease;

import java.time.Duration;

/**
 * For how long a lease is held.
 *
 * @param ttl until it expires, counted from the grant, from each extension, and while it waits from the last time that
 *     somebody asked for it; zero expires at once
 * @param maxHold how long extensions can make it last at most, from its first grant on; before that, from the time when it
 *     was opened
 */
public record LeaseTerm(Duration ttl, Duration maxHold) {

    /** Far beyond any use, and its nanoseconds still fit a {@code long} many times. */
    public static final Duration LONGEST = Duration.ofDays(365);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseTerm {
        requireBounded("ttl", ttl);
        requireBounded("max-hold", maxHold);
    }

    static void requireBounded(String name, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("%s: %s (expected: 0 to 365 days)".formatted(name, value));
        }
    }
}
