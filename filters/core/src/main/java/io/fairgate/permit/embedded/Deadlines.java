package io.fairgate.permit.embedded;

import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * When the drain has to look at claims by itself, and the one timer of the pool, which rings at the earliest of these
 * times. A timer for each wait and each hold would take longer than all else that a waiting request costs, and the threads
 * of the program would wait for each other at the lock of the timers.
 *
 * <p>A heap in which each place has four below it: that makes it half as deep, and four times side by side in an array of
 * their own are fetched together. The timer is set anew only for an earlier time; that it rings and nothing is due any more
 * costs less than setting it for every change.
 *
 * <p>Only the drain uses it, but for {@link #ringsAt}.
 */
final class Deadlines {

    /** A time that does not come. */
    static final long NEVER = Long.MAX_VALUE;

    /** The place of a claim that is not in here. */
    static final int NOWHERE = -1;

    private static final int FEW = 16;

    private static final int BELOW = 4;

    private final Scheduler timers;
    private final Runnable ring;

    private long[] times = new long[FEW];
    private @Nullable TimedClaim[] claims = new TimedClaim[FEW];
    private int size;
    /** Places of claims that have left. */
    private int empty;

    private Disposable timer = Disposables.disposed();
    private volatile long ringsAt = NEVER;

    /** @param ring what the timer runs, on a thread of {@code timers}: tells the drain to call {@link #rang} */
    Deadlines(Scheduler timers, Runnable ring) {
        this.timers = timers;
        this.ring = ring;
    }

    // ---- the timer ----

    /** The next time at which the pool looks at all whose time may be up; any thread may ask. */
    long ringsAt() {
        return ringsAt;
    }

    /** The timer has rung: from here on who depends on it has to say so, or is seen by the drain after this. */
    void rang() {
        ringsAt = NEVER;
    }

    /** Has the timer ring at the earliest of the times in here, and at {@code other}; it may ring before. */
    void setTimer(long other, long now) {
        long next = Math.min(first(), other);
        if (next < ringsAt) {
            timer.dispose();
            try {
                ringsAt = next;
                timer = timers.schedule(ring, Math.max(0, next - now), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                // Nothing ends by itself any more; what is in flight still comes back.
                ringsAt = NEVER;
            }
        }
    }

    void stopTimer() {
        timer.dispose();
        ringsAt = NEVER;
    }

    // ---- the heap ----

    /** The earliest time in here. */
    long first() {
        while (size > 0 && claims[0] == null) {
            removeFirst();
        }
        return size == 0 ? NEVER : times[0];
    }

    /** The claim that is due now, which is to be set anew or removed; null when there is none. */
    @Nullable
    TimedClaim due(long now) {
        return first() <= now ? claims[0] : null;
    }

    /** Has the claim looked at then, and not when it was to be before. */
    void set(TimedClaim claim, long time) {
        remove(claim);
        if (time != NEVER) {
            if (size == times.length) {
                resize(2 * size);
            }
            up(size++, claim, time);
        }
    }

    /** For how many claims there is room now. */
    int room() {
        return times.length;
    }

    /** Leaves its place empty: who leaves from the midst of many would have to fetch others to have it filled. */
    void remove(TimedClaim claim) {
        int at = claim.placeByTime;
        if (at != NOWHERE) {
            claim.placeByTime = NOWHERE;
            claims[at] = null;
            empty++;
            if (empty > Math.max(FEW, size / 2)) {
                closeUp();
            }
        }
    }

    private void removeFirst() {
        size--;
        empty--;
        TimedClaim last = claims[size];
        claims[size] = null;
        if (size > 0) {
            down(0, last, times[size]);
        }
    }

    /** Fills the empty places, which takes a step for each claim; as many have left before. */
    private void closeUp() {
        int filled = 0;
        for (int i = 0; i < size; i++) {
            if (claims[i] != null) {
                put(filled++, claims[i], times[i]);
            }
        }
        Arrays.fill(claims, filled, size, null);
        size = filled;
        empty = 0;
        if (size < times.length / 4) {
            resize(Math.max(FEW, times.length / 2));
        }
        for (int i = above(size - 1); i >= 0; i--) {
            down(i, claims[i], times[i]);
        }
    }

    private void up(int from, TimedClaim claim, long time) {
        int at = from;
        while (at > 0 && time < times[above(at)]) {
            put(at, claims[above(at)], times[above(at)]);
            at = above(at);
        }
        put(at, claim, time);
    }

    private void down(int from, @Nullable TimedClaim claim, long time) {
        int at = from;
        for (int first = BELOW * at + 1; first < size; first = BELOW * at + 1) {
            int earliest = first;
            for (int other = first + 1; other < Math.min(first + BELOW, size); other++) {
                earliest = times[other] < times[earliest] ? other : earliest;
            }
            if (times[earliest] >= time) {
                break;
            }
            put(at, claims[earliest], times[earliest]);
            at = earliest;
        }
        put(at, claim, time);
    }

    private static int above(int at) {
        return (at - 1) / BELOW;
    }

    private void put(int at, @Nullable TimedClaim claim, long time) {
        claims[at] = claim;
        times[at] = time;
        if (claim != null) {
            claim.placeByTime = at;
        }
    }

    private void resize(int length) {
        times = Arrays.copyOf(times, length);
        claims = Arrays.copyOf(claims, length);
    }
}
