package io.fairgate.permit.embedded;

import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * The deadlines of waits and holds, and the pool's only timer, which rings at the earliest of them. A timer for each would
 * take longer than all else that a waiting request costs, and threads would contend for the lock of the timers. It is set
 * anew only for an earlier time: to ring when nothing is due costs less than to set it for every change.
 *
 * <p>A 4-ary heap: half as deep as a binary one, and four times that lie side by side in their own array are fetched
 * together. Only the drain uses it, except for {@link #ringsAt}.
 */
final class Deadlines {

    static final long NEVER = Long.MAX_VALUE;

    /** The place of a waiter that is not in here. */
    static final int NOWHERE = -1;

    private static final int FEW = 16;
    private static final int BELOW = 4;

    private final Scheduler timers;
    private final Runnable ring;

    private long[] times = new long[FEW];
    private @Nullable Waiter[] waiters = new Waiter[FEW];
    private int size;
    /** The number of places whose waiters were removed. */
    private int empty;

    private Disposable timer = Disposables.disposed();
    private volatile long ringsAt = NEVER;

    /** @param ring what the timer runs, on a thread of {@code timers}: it must make the drain call {@link #rang} */
    Deadlines(Scheduler timers, Runnable ring) {
        this.timers = timers;
        this.ring = ring;
    }

    // ---- the timer ----

    /** The time for which the timer is set; any thread may call this. */
    long ringsAt() {
        return ringsAt;
    }

    /**
     * The timer has rung and is not set any more. A thread that reads {@link #ringsAt} after this sends its deadline to the
     * drain; the drain looks for the deadlines of threads that read it before.
     */
    void rang() {
        ringsAt = NEVER;
    }

    /** Sets the timer to the earliest deadline, or to {@code other} if that is earlier; it may ring earlier still. */
    void setTimer(long other, long now) {
        ringBy(Math.min(first(), other), now);
    }

    /** Has the timer ring at that time, or earlier. */
    void ringBy(long next, long now) {
        if (next < ringsAt) {
            timer.dispose();
            try {
                ringsAt = next;
                timer = timers.schedule(ring, Math.max(0, next - now), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                // Without timers no wait or hold ends by itself any more; permits in flight are still released.
                ringsAt = NEVER;
            }
        }
    }

    void stopTimer() {
        timer.dispose();
        ringsAt = NEVER;
    }

    // ---- the heap ----

    /** The earliest deadline, or {@link #NEVER}. */
    long first() {
        while (size > 0 && waiters[0] == null) {
            removeFirst();
        }
        return size == 0 ? NEVER : times[0];
    }

    /** The first waiter that is due, which the caller must set anew or remove; null when none is due. */
    @Nullable
    Waiter due(long now) {
        return first() <= now ? waiters[0] : null;
    }

    /** Sets the deadline of the waiter, in place of an earlier one. */
    void set(Waiter waiter, long time) {
        remove(waiter);
        if (time != NEVER) {
            if (size == times.length) {
                resize(2 * size);
            }
            up(size++, waiter, time);
        }
    }

    /** The capacity of the heap, for tests. */
    int room() {
        return times.length;
    }

    /** Removes the waiter and leaves its place empty: filling a place in the middle of the heap would touch other waiters. */
    void remove(Waiter waiter) {
        int at = waiter.placeByTime;
        if (at != NOWHERE) {
            waiter.placeByTime = NOWHERE;
            waiters[at] = null;
            empty++;
            if (empty > Math.max(FEW, size / 2)) {
                closeUp();
            }
        }
    }

    private void removeFirst() {
        size--;
        empty--;
        Waiter last = waiters[size];
        waiters[size] = null;
        if (size > 0) {
            down(0, last, times[size]);
        }
    }

    /** Fills the empty places: a step for each waiter, after removals in proportion to their number. */
    private void closeUp() {
        int filled = 0;
        for (int i = 0; i < size; i++) {
            if (waiters[i] != null) {
                put(filled++, waiters[i], times[i]);
            }
        }
        Arrays.fill(waiters, filled, size, null);
        size = filled;
        empty = 0;
        if (size < times.length / 4) {
            resize(Math.max(FEW, times.length / 2));
        }
        for (int i = above(size - 1); i >= 0; i--) {
            down(i, waiters[i], times[i]);
        }
    }

    private void up(int from, Waiter waiter, long time) {
        int at = from;
        while (at > 0 && time < times[above(at)]) {
            put(at, waiters[above(at)], times[above(at)]);
            at = above(at);
        }
        put(at, waiter, time);
    }

    private void down(int from, @Nullable Waiter waiter, long time) {
        int at = from;
        for (int first = BELOW * at + 1; first < size; first = BELOW * at + 1) {
            int earliest = first;
            for (int other = first + 1; other < Math.min(first + BELOW, size); other++) {
                earliest = times[other] < times[earliest] ? other : earliest;
            }
            if (times[earliest] >= time) {
                break;
            }
            put(at, waiters[earliest], times[earliest]);
            at = earliest;
        }
        put(at, waiter, time);
    }

    private static int above(int at) {
        return (at - 1) / BELOW;
    }

    private void put(int at, @Nullable Waiter waiter, long time) {
        waiters[at] = waiter;
        times[at] = time;
        if (waiter != null) {
            waiter.placeByTime = at;
        }
    }

    private void resize(int length) {
        times = Arrays.copyOf(times, length);
        waiters = Arrays.copyOf(waiters, length);
    }
}
