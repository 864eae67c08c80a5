package io.fairgate.testkit;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Virtual time that knows which timers are pending. Reactor's own virtual scheduler counts disposed timers until their time
 * comes, so it cannot tell a timer that was left behind from one that was disposed of.
 */
public final class TestTime implements Scheduler {

    private final VirtualTimeScheduler virtual = VirtualTimeScheduler.create();
    private final Set<Disposable> pending = ConcurrentHashMap.newKeySet();

    /** Timers that are scheduled, have not fired, and were not disposed of. */
    public int timersLeft() {
        return pending.size();
    }

    public void advanceBy(Duration duration) {
        virtual.advanceTimeBy(duration);
    }

    /** Runs the tasks that are due now. */
    public void runDue() {
        virtual.advanceTime();
    }

    @Override
    public long now(TimeUnit unit) {
        return virtual.now(unit);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return virtual.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        if (delay <= 0) {
            return schedule(task);
        }
        Disposable.Swap handle = Disposables.swap();
        Disposable timer = new Disposable() {
            @Override
            public void dispose() {
                pending.remove(this);
                handle.dispose();
            }

            @Override
            public boolean isDisposed() {
                return handle.isDisposed();
            }
        };
        pending.add(timer);
        handle.update(virtual.schedule(
                () -> {
                    pending.remove(timer);
                    task.run();
                },
                delay,
                unit));
        return timer;
    }

    @Override
    public Worker createWorker() {
        return virtual.createWorker();
    }
}
