package io.fairgate.gateway.throttle;

import io.fairgate.testkit.ForwardingScheduler;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import reactor.core.Disposable;

/** Virtual time that shows when a call has begun to wait, which over HTTP is a moment after it was sent. */
final class WatchedTime extends ForwardingScheduler {

    private final TestTime time;
    private final Queue<Duration> delays = new ConcurrentLinkedQueue<>();

    WatchedTime() {
        this(new TestTime());
    }

    private WatchedTime(TestTime time) {
        super(time);
        this.time = time;
    }

    void advanceBy(Duration duration) {
        time.advanceBy(duration);
    }

    /** Waits until a timer of that length is set, which was not awaited yet. */
    void awaitTimer(Duration length) {
        Awaitility.await().pollInterval(Duration.ofMillis(2)).until(() -> delays.remove(length));
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        Disposable timer = super.schedule(task, delay, unit);
        delays.add(Duration.ofNanos(unit.toNanos(delay)));
        return timer;
    }
}
