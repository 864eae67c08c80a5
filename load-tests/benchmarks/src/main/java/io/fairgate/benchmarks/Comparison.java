package io.fairgate.benchmarks;

import io.fairgate.benchmarks.report.Spread;

/**
 * The ratios of all rounds, and the highest ratio that is acceptable.
 *
 * @param processorsPerThread processors for each thread, of the side that had fewer
 */
record Comparison(Spread ratios, double limit, double processorsPerThread) {

    /** Threads with less do not run at the same time often enough. */
    private static final double ENOUGH = 0.8;

    /** Whether there is a limit; otherwise the line is for information only. */
    boolean isWanted() {
        return limit < Line.NO_LIMIT;
    }

    /** Whether several threads really ran at the same time. Interruptions do no harm to the measurement of a single thread. */
    boolean ranAtOnce() {
        return processorsPerThread >= ENOUGH;
    }

    boolean holds() {
        return ratios.median() <= limit;
    }
}
