package io.fairgate.client;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long to wait before another try. Up to a quarter longer than said, by chance, so that those who were turned away
 * together do not come back together; never shorter.
 */
final class Pauses {

    private static final long FIRST_NANOS = Duration.ofMillis(100).toNanos();
    private static final int DOUBLINGS = 4;
    private static final double SPREAD = 0.25;

    private final DoubleSupplier chance;

    /** @param chance from 0 to 1, from any thread */
    Pauses(DoubleSupplier chance) {
        this.chance = chance;
    }

    /** 100 ms after the first failure, twice as long after each more, up to 1.6 s. */
    long afterFailures(int failures) {
        return spread(FIRST_NANOS << Math.min(DOUBLINGS, failures - 1));
    }

    long spread(long nanos) {
        return nanos + (long) (nanos * SPREAD * chance.getAsDouble());
    }
}
