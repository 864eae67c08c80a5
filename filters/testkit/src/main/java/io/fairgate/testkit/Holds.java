package io.fairgate.testkit;

import java.time.Duration;
import java.util.Random;

/**
 * How long simulated requests hold their permits.
 *
 * @param kind the distribution
 * @param mean the mean of the distribution; for {@link Kind#PARETO} before its tail is cut at 60 s
 * @param jitter for {@link Kind#UNIFORM}: half the width, as a part of the mean; for {@link Kind#BIMODAL}: how often a hold
 *     is a long one
 */
public record Holds(Kind kind, Duration mean, double jitter) {

    /** The kinds of distributions. */
    public enum Kind {
        CONSTANT,
        UNIFORM,
        EXPONENTIAL,
        /** Pareto with the exponent 1.2: most holds are short, and a few are so long that the variance is infinite. */
        PARETO,
        /** Short holds and some that are a hundred times as long. */
        BIMODAL
    }

    private static final double PARETO_EXPONENT = 1.2;
    /** The longest hold of the Pareto distribution, in nanoseconds: the default maximum hold of a pool. */
    private static final double LONGEST_NANOS = 60e9;

    private static final double LONG_TO_SHORT = 100;

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

    public static Holds pareto(Duration mean) {
        return new Holds(Kind.PARETO, mean, 0);
    }

    /** One in {@code 1 / often} holds is a hundred times as long as the others. The mean is that of all holds. */
    public static Holds bimodal(Duration mean, double often) {
        return new Holds(Kind.BIMODAL, mean, often);
    }

    /** A random hold in nanoseconds, at least 1, so that time always advances in a closed loop. */
    public long draw(Random random) {
        double nanos = switch (kind) {
            case CONSTANT -> mean.toNanos();
            case UNIFORM -> mean.toNanos() * (1 + jitter * (2 * random.nextDouble() - 1));
            // StrictMath: the same digits on every machine.
            case EXPONENTIAL -> -mean.toNanos() * StrictMath.log(1 - random.nextDouble());
            case PARETO ->
                Math.min(
                        LONGEST_NANOS,
                        mean.toNanos()
                                * (PARETO_EXPONENT - 1)
                                / PARETO_EXPONENT
                                / StrictMath.pow(1 - random.nextDouble(), 1 / PARETO_EXPONENT));
            case BIMODAL ->
                mean.toNanos()
                        / (1 - jitter + LONG_TO_SHORT * jitter)
                        * (random.nextDouble() < jitter ? LONG_TO_SHORT : 1);
        };
        return Math.max(1, Math.round(nanos));
    }
}
