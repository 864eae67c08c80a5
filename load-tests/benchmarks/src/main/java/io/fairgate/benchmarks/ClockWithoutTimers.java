package io.fairgate.benchmarks;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The monotonic clock, without timers: what is to run later never does. */
final class ClockWithoutTimers implements Scheduler {

    private static final Disposable NOTHING = Disposables.disposed();

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
        return NOTHING;
    }

    @Override
    public Worker createWorker() {
        return Schedulers.parallel().createWorker();
    }
}
