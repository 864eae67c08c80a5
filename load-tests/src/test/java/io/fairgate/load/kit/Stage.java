package io.fairgate.load.kit;

import java.time.Duration;

/**
 * A part of a run, in which the load goes evenly from one level to another.
 *
 * @param from the part of the plan's load at the beginning: 1 is all of it
 * @param to the same at the end
 * @param measured whether its requests count; those of a warm-up do not
 */
record Stage(double from, double to, Duration length, boolean measured) {

    /** How often the level is looked at while it changes. */
    static final Duration SHORT = Duration.ofMillis(50);

    Stage at(WrittenLevel level) {
        return new Stage(level.from() / 100, level.to() / 100, length, measured);
    }

    double levelAfter(Duration time) {
        double progress = (double) time.toNanos() / length.toNanos();
        return from + (to - from) * Math.max(0, Math.min(1, progress));
    }

    double highest() {
        return Math.max(from, to);
    }
}
