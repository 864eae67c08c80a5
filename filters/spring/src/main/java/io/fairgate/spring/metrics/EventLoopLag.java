package io.fairgate.spring.metrics;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Ticker;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.DisposableBean;

/**
 * How late the event loops of clients are. A loop works on all that is ready, one after the other, so the time by which it
 * runs a timer too late is how long a request waits before the gateway reads it.
 */
final class EventLoopLag implements DisposableBean {

    /** Between two measurements. A pause may look shorter by as much. */
    static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(20);

    /** The highest lag is that of the last one or two of these, so that no scrape of the metrics misses it. */
    private static final long WINDOW = TimeUnit.SECONDS.toNanos(30);

    private final Ticker time;
    private final Map<EventLoop, Loop> loops = new ConcurrentHashMap<>();

    EventLoopLag(Ticker time) {
        this.time = time;
    }

    /** Called with the loop of each new connection; the first one starts the measurement of the loop. */
    void watch(EventLoop loop) {
        if (!loops.containsKey(loop)) {
            loops.computeIfAbsent(loop, Loop::new);
        }
    }

    /** The highest lag of any loop in the last one or two windows. */
    double highestSeconds() {
        return loops.values().stream().mapToLong(Loop::highest).max().orElse(0) / 1e9;
    }

    /** Event loops may outlive the application. */
    @Override
    public void destroy() {
        loops.values().forEach(loop -> loop.measurement.cancel(false));
    }

    private final class Loop {

        private final Future<?> measurement;
        private long windowBegan = time.nanoTime();
        private volatile long due = windowBegan + PERIOD;
        private volatile long highest;
        private volatile long highestBefore;

        Loop(EventLoop loop) {
            measurement = loop.scheduleWithFixedDelay(this::measure, PERIOD, PERIOD, TimeUnit.NANOSECONDS);
        }

        private void measure() {
            long now = time.nanoTime();
            if (now - windowBegan >= WINDOW) {
                windowBegan = now;
                highestBefore = highest;
                highest = 0;
            }
            highest = Math.max(highest, now - due);
            due = now + PERIOD;
        }

        /** A loop that hangs is late before it is measured. */
        long highest() {
            return Math.max(time.nanoTime() - due, Math.max(highest, highestBefore));
        }
    }
}
