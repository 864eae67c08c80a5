package io.fairgate.proofs;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * Time that stands still until a test advances it; the thread that advances it runs the timers that are due. No other part of
 * Reactor's schedulers disturbs the model checker.
 */
final class TimersByHand implements Scheduler {

    /** The most timers at once: one of the pool, one of a work that quiesces, and one of the close. */
    private static final int MOST = 4;

    private final AtomicLong now = new AtomicLong();
    private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(MOST);

    /** Advances the time; it never goes back. */
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
        throw new IllegalStateException("more than " + MOST + " timers");
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("the pool needs no worker");
    }

    private record Timer(Runnable task, long due) {}
}
