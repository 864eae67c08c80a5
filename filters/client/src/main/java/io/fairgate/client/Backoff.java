package io.fairgate.client;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long to wait before another attempt. A random part of up to a quarter is added, so that clients that were refused
 * together do not return together.
 */
final class Backoff {

    private static final long FIRST_NANOS = Duration.ofMillis(100).toNanos();
    private static final int DOUBLINGS = 4;
    private static final double JITTER = 0.25;

    private final DoubleSupplier chance;

    /** @param chance returns 0 to 1; called on any thread */
    Backoff(DoubleSupplier chance) {
        this.chance = chance;
    }

    /** 100 ms after the first failure, doubled after each further one, up to 1.6 s. */
    long afterFailures(int failures) {
        return jittered(FIRST_NANOS << Math.min(DOUBLINGS, failures - 1));
    }

    long jittered(long nanos) {
        return nanos + (long) (nanos * JITTER * chance.getAsDouble());
    }
}
