package io.fairgate.proofs;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Watches, without asking the pool, that never more run at once than there are permits. What is counted is one number, because a
 * flag and a count beside it would differ for a moment, and in that moment the watch would be wrong and not the pool.
 */
final class Guard {

    private static final int ONE_PASSES = 1 << PoolOfRequests.REQUESTS;

    /** A bit for each request that runs, and above them the number of those that just pass through. */
    private final AtomicInteger running = new AtomicInteger();

    private final int most;
    private volatile boolean sawTooMany;

    Guard(int most) {
        this.most = most;
    }

    void starts(int request) {
        count(running.updateAndGet(now -> now | 1 << request));
    }

    /** To be called before the permit goes back; true for who ends it. */
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

    /** Not thrown at once, because who is told of it then would be the pool. */
    boolean sawTooMany() {
        return sawTooMany;
    }

    private void count(int now) {
        if (Integer.bitCount(now % ONE_PASSES) + now / ONE_PASSES > most) {
            sawTooMany = true;
        }
    }
}
