package io.fairgate.redis.quota;

import java.util.concurrent.TimeUnit;

/** How much requests use in a second, lately. Guarded by the lock of its {@link PrepaidUnits}. */
final class UnitDemand {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long beginNanos;
    private long units;
    private int requests;
    private long unitsBefore;
    private int requestsBefore;

    UnitDemand(long now) {
        beginNanos = now;
    }

    void add(long asked, long now) {
        moveOn(now);
        units += asked;
        requests++;
    }

    private void moveOn(long now) {
        long elapsed = now - beginNanos;
        if (elapsed >= SECOND) {
            boolean isNext = elapsed < 2 * SECOND;
            unitsBefore = isNext ? units : 0;
            requestsBefore = isNext ? requests : 0;
            units = 0;
            requests = 0;
            beginNanos = isNext ? beginNanos + SECOND : now;
        }
    }

    /** Of the second before, or of this one if they are more by now. */
    int requests(long now) {
        moveOn(now);
        return Math.max(requests, requestsBefore);
    }

    /** Of so many requests of average size, rounded up. */
    long unitsOf(int some, long now) {
        moveOn(now);
        int count = Math.max(1, requests + requestsBefore);
        return (some * (units + unitsBefore) + count - 1) / count;
    }

    /** Of the second before, or of this one if they are more by now. */
    long units(long now) {
        moveOn(now);
        return Math.max(units, unitsBefore);
    }
}
