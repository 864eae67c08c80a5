package io.fairgate.client;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A scheduler whose clock is {@link System#nanoTime}. Reactor's own schedulers use the wall clock: if it is set back, a lease
 * that is measured on it would be held for too long. Timers have threads of their own, so that a lease is extended, and lost
 * in time, even while a work blocks the threads of {@link Schedulers#parallel()}.
 */
final class MonotonicTime implements Scheduler {

    static final Scheduler INSTANCE = new MonotonicTime();

    private final Scheduler timers;

    private MonotonicTime() {
        ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(2, TimerThread::new);
        threads.setRemoveOnCancelPolicy(true);
        timers = Schedulers.fromExecutorService(threads);
    }

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return Schedulers.parallel().schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return timers.schedule(task, delay, unit);
    }

    @Override
    public Worker createWorker() {
        return Schedulers.parallel().createWorker();
    }

    private static final class TimerThread extends Thread implements NonBlocking {
        TimerThread(Runnable task) {
            super(task, "fairgate-lease-timer");
            setDaemon(true);
        }
    }
}
