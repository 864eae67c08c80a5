package io.fairgate.gateway.throttle;

import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** Virtual time that tells when somebody has begun to wait, which over HTTP is a moment after the request was sent. */
final class WatchedTime implements Scheduler {

    private final TestTime time = new TestTime();
    private final Queue<Duration> delays = new ConcurrentLinkedQueue<>();

    void advanceBy(Duration duration) {
        time.advanceBy(duration);
    }

    /** Waits until a timer of that length is set, which was not awaited yet. */
    void awaitTimer(Duration length) {
        Awaitility.await().pollInterval(Duration.ofMillis(2)).until(() -> delays.remove(length));
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
        Disposable timer = time.schedule(task, delay, unit);
        delays.add(Duration.ofNanos(unit.toNanos(delay)));
        return timer;
    }

    @Override
    public Worker createWorker() {
        return time.createWorker();
    }
}
