package io.fairgate.client;

import io.fairgate.testkit.ForwardingScheduler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/** The time of a program that can be paused: the clock goes on, and timers run late. */
final class PausedTime extends ForwardingScheduler {

    private long pausedNanos;

    PausedTime(Scheduler time) {
        super(time);
    }

    void pause(Duration duration) {
        pausedNanos += duration.toNanos();
    }

    @Override
    public long now(TimeUnit unit) {
        return super.now(unit) + unit.convert(pausedNanos, TimeUnit.NANOSECONDS);
    }
}
