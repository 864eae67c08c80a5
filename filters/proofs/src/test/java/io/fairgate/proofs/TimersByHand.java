package io.fairgate.proofs;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * Time that stands still, and timers that fire when a test says so. A timer is known by its delay in whole seconds, so
 * each must have one of its own. Nothing else of Reactor's schedulers is in the way of a model checker.
 */
final class TimersByHand implements Scheduler {

    private final AtomicReferenceArray<@Nullable Runnable> timers;

    /** Timers of 0 to {@code most - 1} seconds. */
    TimersByHand(int most) {
        timers = new AtomicReferenceArray<>(most);
    }

    /** Fires the timer of so many seconds, if it is set. */
    void fire(int seconds) {
        Runnable timer = timers.getAndSet(seconds, null);
        if (timer != null) {
            timer.run();
        }
    }

    boolean isSet(int seconds) {
        return timers.get(seconds) != null;
    }

    @Override
    public long now(TimeUnit unit) {
        return 0;
    }

    @Override
    public Disposable schedule(Runnable task) {
        task.run();
        return Disposables.disposed();
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        int seconds = (int) unit.toSeconds(delay);
        timers.set(seconds, task);
        return () -> timers.compareAndSet(seconds, task, null);
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("the pool needs no worker");
    }
}
