package io.fairgate.load.kit;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The time since a run began. Any thread may start it; only the first start counts. */
final class RunClock {

    private static final long NOT_STARTED = Long.MIN_VALUE;

    private final AtomicLong start = new AtomicLong(NOT_STARTED);

    void start() {
        start.compareAndSet(NOT_STARTED, System.nanoTime());
    }

    /** Starts it if nothing has. */
    Duration elapsed() {
        start();
        return Duration.ofNanos(System.nanoTime() - start.get());
    }
}
