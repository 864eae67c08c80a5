package io.fairgate.replay;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** A scheduler whose time goes on to that of its next task as soon as the one before has ended. For one thread. */
final class VirtualTime implements Scheduler {

    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.<Timer>comparingLong(t -> t.at).thenComparingLong(t -> t.number));
    private long now;
    private long scheduled;

    private static final class Timer implements Disposable {
        private final long at;
        private final long number;
        private final Runnable task;
        private boolean isDisposed;

        Timer(long at, long number, Runnable task) {
            this.at = at;
            this.number = number;
            this.task = task;
        }

        @Override
        public void dispose() {
            isDisposed = true;
        }

        @Override
        public boolean isDisposed() {
            return isDisposed;
        }
    }

    VirtualTime(long now) {
        this.now = now;
    }

    long now() {
        return now;
    }

    /** Runs all tasks up to that time, those of one time in the order in which they were scheduled. */
    void runUntil(long end) {
        for (Timer next = timers.peek(); next != null && next.at <= end; next = timers.peek()) {
            timers.remove();
            if (!next.isDisposed) {
                now = next.at;
                next.isDisposed = true;
                next.task.run();
            }
        }
        now = end;
    }

    Disposable at(long time, Runnable task) {
        Timer timer = new Timer(Math.max(now, time), scheduled++, task);
        timers.add(timer);
        return timer;
    }

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(now, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return at(now, task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return at(now + unit.toNanos(delay), task);
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("a replay has no workers");
    }
}
