package io.fairgate.upstream;

import java.time.Duration;

/**
 * A request that the gateway sends to each instance by itself. An instance is ready when the last answer had a status below 400, and
 * until two in a row had another or did not come in time.
 *
 * @param path the path, and the query if there is one
 * @param every how often
 * @param timeout how long an answer may take
 */
public record HealthCheck(String path, Duration every, Duration timeout) {

    public static final Duration USUAL_INTERVAL = Duration.ofSeconds(5);
    public static final Duration USUAL_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofHours(1);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public HealthCheck {
        if (!path.matches("/[\\x21-\\x7e]*") || path.contains("#")) {
            throw new IllegalArgumentException("path: %s (expected: a path such as /healthz)".formatted(path));
        }
        if (every.compareTo(SHORTEST) < 0 || every.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("every: %s (expected: 100ms to 1h)".formatted(every));
        }
        if (timeout.isZero() || timeout.isNegative() || timeout.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("timeout: %s (expected: more than 0, at most 1h)".formatted(timeout));
        }
    }
}
