package io.fairgate.time;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A scheduler with a monotonic clock: {@link #now} is {@link System#nanoTime}.
 *
 * <p>Reactor's own schedulers take {@code now} from the wall clock, which can jump: waits and holds would be wrong.
 *
 * <p>Tasks with a delay, even of zero, run on two threads of their own. All other tasks run on
 * {@link Schedulers#parallel()}. So a work that blocks those threads does not delay the timers.
 */
public final class MonotonicScheduler implements Scheduler {

    /** The only instance, shared by the whole program; disposing of it does nothing. */
    public static final Scheduler INSTANCE = new MonotonicScheduler();

    private final Scheduler timers;

    private MonotonicScheduler() {
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
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return timers.schedulePeriodically(task, initialDelay, period, unit);
    }

    @Override
    public Worker createWorker() {
        return Schedulers.parallel().createWorker();
    }

    private static final class TimerThread extends Thread implements NonBlocking {
        TimerThread(Runnable task) {
            super(task, "fairgate-timer");
            setDaemon(true);
        }
    }
}
