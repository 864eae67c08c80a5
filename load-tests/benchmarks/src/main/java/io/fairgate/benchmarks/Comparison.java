package io.fairgate.benchmarks;

import java.util.List;

/**
 * The ratios of all rounds beside the one that is wanted at most.
 *
 * @param processorsPerThread that those who are compared had, the one that had least
 */
record Comparison(List<Double> ratios, double limit, double processorsPerThread) {

    /** Threads that have less do not meet often enough. */
    private static final double ENOUGH = 0.8;

    double ratio() {
        return Rounds.median(ratios);
    }

    double least() {
        return ratios.stream().mapToDouble(ratio -> ratio).min().orElseThrow();
    }

    double most() {
        return ratios.stream().mapToDouble(ratio -> ratio).max().orElseThrow();
    }

    /** Whether anything is wanted of it; otherwise it only tells. */
    boolean isWanted() {
        return limit < Line.NO_LIMIT;
    }

    /** Whether threads that should have run at once did. A thread alone is measured well when it is often interrupted, too. */
    boolean ranAtOnce() {
        return processorsPerThread >= ENOUGH;
    }

    boolean holds() {
        return ratio() <= limit;
    }
}
