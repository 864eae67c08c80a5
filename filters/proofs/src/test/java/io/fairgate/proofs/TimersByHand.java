package io.fairgate.proofs;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * Time that stands still until a test says how late it is; who says so runs the timers that are due then. Nothing else of
 * Reactor's schedulers is in the way of a model checker.
 */
final class TimersByHand implements Scheduler {

    /** Timers that can be set at once: a pool has one, a work that settles another, and closing a third. */
    private static final int MOST = 4;

    private final AtomicLong now = new AtomicLong();
    private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(MOST);

    /** It is that late now, or later already. */
    void advanceTo(long seconds) {
        long late = now.accumulateAndGet(TimeUnit.SECONDS.toNanos(seconds), Math::max);
        for (int i = 0; i < MOST; i++) {
            Timer timer = timers.get(i);
            if (timer != null && timer.due <= late && timers.compareAndSet(i, timer, null)) {
                timer.task.run();
            }
        }
    }

    boolean isAnySet() {
        boolean any = false;
        for (int i = 0; i < MOST; i++) {
            any |= timers.get(i) != null;
        }
        return any;
    }

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(now.get(), TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        task.run();
        return Disposables.disposed();
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        Timer timer = new Timer(task, now.get() + unit.toNanos(delay));
        for (int i = 0; i < MOST; i++) {
            if (timers.compareAndSet(i, null, timer)) {
                int at = i;
                return () -> timers.compareAndSet(at, timer, null);
            }
        }
        throw new IllegalStateException("more timers than a pool has");
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("the pool needs no worker");
    }

    private record Timer(Runnable task, long due) {}
}
