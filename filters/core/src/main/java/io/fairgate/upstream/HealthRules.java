package io.fairgate.upstream;

import java.time.Duration;

/**
 * When an instance is put aside for its failures.
 *
 * @param failures how many in a row put it aside
 * @param aside how long it gets no requests then; twice as long after each probe that fails
 * @param maxAside the longest such time
 */
public record HealthRules(int failures, Duration aside, Duration maxAside) {

    public static final int MAX_FAILURES = 1_000_000;
    private static final Duration MAX_TIME = Duration.ofDays(1);

    public static final HealthRules USUAL = new HealthRules(5, Duration.ofSeconds(2), Duration.ofMinutes(1));

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public HealthRules {
        if (failures < 1 || failures > MAX_FAILURES) {
            throw new IllegalArgumentException("failures: %d (expected: 1 to %d)".formatted(failures, MAX_FAILURES));
        }
        if (aside.isZero() || aside.isNegative() || aside.compareTo(MAX_TIME) > 0) {
            throw new IllegalArgumentException("aside: %s (expected: more than 0, at most 1 day)".formatted(aside));
        }
        if (maxAside.compareTo(aside) < 0 || maxAside.compareTo(MAX_TIME) > 0) {
            throw new IllegalArgumentException(
                    "max-aside: %s (expected: at least aside, at most 1 day)".formatted(maxAside));
        }
    }
}
