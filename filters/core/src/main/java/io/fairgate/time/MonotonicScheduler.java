package io.fairgate.time;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A scheduler whose clock cannot be set: {@link #now} is {@link System#nanoTime}.
 *
 * <p>Reactor's own schedulers answer {@code now} from the wall clock, which jumps; a wait or a hold measured on it
 * would jump along. Work and timers are those of {@link Schedulers#parallel()}.
 */
public final class MonotonicScheduler implements Scheduler {

    /** The instance that a program shares; disposing of it does nothing. */
    public static final Scheduler INSTANCE = new MonotonicScheduler();

    private MonotonicScheduler() {}

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
        return Schedulers.parallel().schedule(task, delay, unit);
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return Schedulers.parallel().schedulePeriodically(task, initialDelay, period, unit);
    }

    @Override
    public Worker createWorker() {
        return Schedulers.parallel().createWorker();
    }
}
