package io.fairgate.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The time of a program that can be paused: the clock goes on, and timers run late. */
final class PausedTime implements Scheduler {

    private final Scheduler time;
    private long pausedNanos;

    PausedTime(Scheduler time) {
        this.time = time;
    }

    void pause(Duration duration) {
        pausedNanos += duration.toNanos();
    }

    @Override
    public long now(TimeUnit unit) {
        return time.now(unit) + unit.convert(pausedNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return time.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return time.schedule(task, delay, unit);
    }

    @Override
    public Worker createWorker() {
        return time.createWorker();
    }
}
