package io.fairgate.permit.embedded;

/**
 * The bound and the end of the slice of this process, and what was told about it ({@link PoolSlice}). A pool of one process has
 * all permits without an end.
 *
 * <p>Threads: any thread reads and sets the end; the rest is only for the drain.
 */
final class SliceBound {

    private volatile long endsAt = Deadlines.NEVER;
    private int most = Integer.MAX_VALUE;
    private Runnable changed = () -> {};

    /** Whether requests waited for permits of the pool after the last decisions. */
    private boolean wasShort;
    /** How many permits more than the bound were in flight after the last decisions. */
    private int wasAbove;

    /** Sets the end, in nanoseconds since the pool was made. */
    void endsAt(long time) {
        endsAt = time;
    }

    long endsAt() {
        return endsAt;
    }

    boolean isUnending() {
        return endsAt == Deadlines.NEVER;
    }

    boolean hasEnded(long now) {
        return now >= endsAt;
    }

    /** Has {@code changed} called when more or fewer permits may be needed. */
    void tell(Runnable changed) {
        this.changed = changed;
    }

    void limit(int most, int inFlight) {
        this.most = most;
        wasAbove = above(inFlight);
    }

    /** After decisions. */
    void decided(boolean isShort, int inFlight) {
        int above = above(inFlight);
        if ((isShort && !wasShort) || above < wasAbove) {
            changed.run();
        }
        wasShort = isShort;
        wasAbove = above;
    }

    private int above(int inFlight) {
        return Math.max(0, inFlight - most);
    }
}
