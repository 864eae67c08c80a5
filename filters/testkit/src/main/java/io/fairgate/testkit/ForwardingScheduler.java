package io.fairgate.testkit;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** Forwards all calls to another scheduler; a test overrides what it wants to change. */
public abstract class ForwardingScheduler implements Scheduler {

    private final Scheduler time;

    protected ForwardingScheduler(Scheduler time) {
        this.time = time;
    }

    @Override
    public long now(TimeUnit unit) {
        return time.now(unit);
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
