package io.fairgate.fairness;

/**
 * How much permit-time one permit in flight counts for in the key, in nanoseconds.
 *
 * <p>A smaller horizon tightens the bound on permit-time, a larger one keeps the numbers in flight smoother. Unless
 * fixed, it is {@code 2 * mean hold * max(1, W / (N * smallest weight))}, kept between 100 ms and 1 h: two typical
 * holds, more when a tenant's share is below one permit. Of a hold that is longer than 32 times the mean only so much counts. It follows at most once a second, and only when it would
 * change by more than a quarter, because every change moves all keys.
 */
final class Horizon {

    private static final double SHORTEST = 100e6;
    private static final double LONGEST = 3600e9;
    private static final long PERIOD = 1_000_000_000L;
    /** Weight of the newest hold in the moving mean: about the last 40 requests count. */
    private static final double NEWEST = 0.05;
    /** A hold counts for so many times the mean at most: one that is very long does not make the others so. */
    private static final double LONGEST_OF_MEAN = 32;

    private final boolean fixed;
    private long nanos;
    private double meanHold = -1;
    private long adjustedAt;

    /** @param fixedNanos the horizon for good, or 0 to let it follow the holds */
    Horizon(long fixedNanos, long now) {
        this.fixed = fixedNanos > 0;
        this.nanos = fixed ? fixedNanos : (long) SHORTEST;
        this.adjustedAt = now - PERIOD;
    }

    long nanos() {
        return nanos;
    }

    void observeHold(long holdNanos) {
        meanHold = meanHold < 0 ? holdNanos : meanHold + NEWEST * (counted(holdNanos) - meanHold);
    }

    /** Below the shortest horizon holds may grow freely: there the mean has no effect. */
    private double counted(long holdNanos) {
        return Math.min((double) holdNanos, Math.max(SHORTEST, LONGEST_OF_MEAN * meanHold));
    }

    boolean isDue(long now) {
        return !fixed && meanHold >= 0 && now - adjustedAt >= PERIOD;
    }

    /** Says whether it is another one now; {@code permits} are those that the weights share. */
    boolean adjust(long now, double weights, double smallestWeight, double permits) {
        adjustedAt = now;
        double crowding = Math.max(1, weights / (permits * smallestWeight));
        double wanted = Math.min(LONGEST, Math.max(SHORTEST, 2 * meanHold * crowding));
        boolean changes = Math.abs(wanted - nanos) > nanos / 4.0;
        if (changes) {
            nanos = Math.round(wanted);
        }
        return changes;
    }
}
