package io.fairgate.proofs;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Checks, without asking the pool, that never more requests run at once than there are permits. All of its state is one number:
 * a flag and a separate count would differ for a moment, and then the guard would be wrong and not the pool.
 */
final class Guard {

    private static final int ONE_PASSES = 1 << PoolOfRequests.REQUESTS;

    /** A bit for each running request, and above these bits the number of calls that are in {@code pass}. */
    private final AtomicInteger running = new AtomicInteger();

    private final int most;
    private volatile boolean sawTooMany;

    Guard(int most) {
        this.most = most;
    }

    void starts(int request) {
        count(running.updateAndGet(now -> now | 1 << request));
    }

    /** Called before the permit is released; true for the thread that ends the request. */
    boolean ends(int request) {
        return isRunning(running.getAndUpdate(now -> now & ~(1 << request)), request);
    }

    void passes() {
        count(running.addAndGet(ONE_PASSES));
    }

    void hasPassed() {
        running.addAndGet(-ONE_PASSES);
    }

    boolean isRunning(int request) {
        return isRunning(running.get(), request);
    }

    private static boolean isRunning(int now, int request) {
        return (now & 1 << request) != 0;
    }

    /** Reported later: an exception at once would go to the pool. */
    boolean sawTooMany() {
        return sawTooMany;
    }

    private void count(int now) {
        if (Integer.bitCount(now % ONE_PASSES) + now / ONE_PASSES > most) {
            sawTooMany = true;
        }
    }
}
