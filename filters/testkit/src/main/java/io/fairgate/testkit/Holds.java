package io.fairgate.testkit;

import java.time.Duration;
import java.util.Random;

/**
 * How long simulated requests hold their permits.
 *
 * @param kind the distribution
 * @param mean its mean
 * @param jitter for {@link Kind#UNIFORM}: half the width, as a part of the mean
 */
public record Holds(Kind kind, Duration mean, double jitter) {

    /** Distributions. */
    public enum Kind {
        CONSTANT,
        UNIFORM,
        EXPONENTIAL
    }

    public static Holds constant(Duration mean) {
        return new Holds(Kind.CONSTANT, mean, 0);
    }

    /** Between {@code mean * (1 - jitter)} and {@code mean * (1 + jitter)}. */
    public static Holds uniform(Duration mean, double jitter) {
        return new Holds(Kind.UNIFORM, mean, jitter);
    }

    public static Holds exponential(Duration mean) {
        return new Holds(Kind.EXPONENTIAL, mean, 0);
    }

    /** At least a nanosecond, so that a closed loop always gets on. */
    long draw(Random random) {
        double nanos = switch (kind) {
            case CONSTANT -> mean.toNanos();
            case UNIFORM -> mean.toNanos() * (1 + jitter * (2 * random.nextDouble() - 1));
            // StrictMath: the same digits on every machine.
            case EXPONENTIAL -> -mean.toNanos() * StrictMath.log(1 - random.nextDouble());
        };
        return Math.max(1, Math.round(nanos));
    }
}
