package io.fairgate.spring.overload;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;

/** Measures how late an event loop is, from time to time. */
final class MeasuredLoop {

    /** Between two measurements. */
    static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(20);

    /** The highest lag is that of the last one or two of these, so that no scrape of the metrics misses it. */
    private static final long WINDOW = TimeUnit.SECONDS.toNanos(30);

    private final EventLoop loop;
    private final LoopLoad load;
    private final LoopTime time;
    private final Runnable whenMeasured;
    private long windowBegan;
    private volatile long due;
    private volatile long highest;
    private volatile long highestBefore;
    private volatile boolean isStopped;

    /** @param whenMeasured runs on the loop, after each measurement */
    MeasuredLoop(EventLoop loop, LoopLoad load, LoopTime time, Runnable whenMeasured) {
        this.loop = loop;
        this.load = load;
        this.time = time;
        this.whenMeasured = whenMeasured;
        this.windowBegan = time.nanos();
        this.due = windowBegan + PERIOD;
    }

    LoopLoad load() {
        return load;
    }

    void start() {
        time.schedule(loop, this::measure, PERIOD);
    }

    void stop() {
        isStopped = true;
    }

    private void measure() {
        if (isStopped) {
            return;
        }
        long now = time.nanos();
        long lag = Math.max(0, now - due);
        if (now - windowBegan >= WINDOW) {
            windowBegan = now;
            highestBefore = highest;
            highest = 0;
        }
        highest = Math.max(highest, lag);
        load.measured(now, lag);
        whenMeasured.run();
        due = now + PERIOD;
        start();
    }

    /** The highest lag of the last half a minute to a minute, in nanoseconds. A loop that hangs is late as well. */
    long highestLag() {
        return Math.max(time.nanos() - due, Math.max(highest, highestBefore));
    }
}
