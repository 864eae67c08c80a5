package io.fairgate.fairness;

/**
 * The gain H of the key: the permit-time that one permit in flight counts for, in nanoseconds.
 *
 * <p>A smaller gain tightens the bound on permit-time, a larger one keeps the numbers in flight smoother. Unless it is
 * fixed, it is twice the mean hold, kept between 100 ms and 1 h. It is adjusted at most once a second, and only when it
 * would change by more than a quarter, because every change moves all keys. Nothing else depends on it: how long a debt
 * is remembered is a setting, independent of the workload ({@link FairnessSettings#memory}).
 */
final class Gain {

    private static final double SMALLEST = 100e6;
    private static final double LARGEST = 3600e9;
    private static final long PERIOD = 1_000_000_000L;
    /** Weight of the newest hold in the moving mean: about the last 40 requests count. */
    private static final double NEWEST = 0.05;

    private final boolean fixed;
    private long nanos;
    private double meanHold = -1;
    private long adjustedAt;

    /** @param fixedNanos a fixed gain in nanoseconds, or 0 for a gain that follows the holds */
    Gain(long fixedNanos, long now) {
        this.fixed = fixedNanos > 0;
        this.nanos = fixed ? fixedNanos : (long) SMALLEST;
        this.adjustedAt = now - PERIOD;
    }

    long nanos() {
        return nanos;
    }

    /** The moving mean of the holds; before the first hold, half of the smallest gain. */
    double meanHoldNanos() {
        return meanHold < 0 ? SMALLEST / 2 : meanHold;
    }

    void observeHold(long holdNanos) {
        meanHold = meanHold < 0 ? holdNanos : meanHold + NEWEST * (holdNanos - meanHold);
    }

    /** Adjusts the gain to the mean hold, if it is not fixed and that is due; returns whether it has changed. */
    boolean adjust(long now) {
        if (fixed || meanHold < 0 || now - adjustedAt < PERIOD) {
            return false;
        }
        adjustedAt = now;
        double wanted = Math.min(LARGEST, Math.max(SMALLEST, 2 * meanHold));
        boolean changes = Math.abs(wanted - nanos) > nanos / 4.0;
        if (changes) {
            nanos = Math.round(wanted);
        }
        return changes;
    }
}
