package io.fairgate.redis.slice;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import reactor.core.scheduler.Scheduler;

/**
 * When the heartbeats of a node begin: ten times a second, and soon or at once when something has happened. One heartbeat begins after the
 * last one has ended. On the worker of the node only.
 */
final class HeartbeatTimer {

    /** Between two heartbeats, when nothing happens. */
    static final Duration BEATS = Duration.ofMillis(100);

    /** The least time between two heartbeats, except for those that begin at once. */
    static final Duration LEAST_BETWEEN_BEATS = Duration.ofMillis(5);

    private enum Due {
        NOT,
        SOON,
        AT_ONCE
    }

    private final Scheduler.Worker thread;
    private final LongSupplier clock;
    private final Runnable beat;

    private long lastBeat;
    private boolean isBeating;
    private boolean isScheduled;

    /** What is due when the present heartbeat has ended. */
    private Due next = Due.NOT;

    /** What waits for the end of the next heartbeat, and of the present one. */
    private List<Runnable> afterNext = new ArrayList<>();

    private List<Runnable> afterThis = new ArrayList<>();

    /**
     * @param clock in nanoseconds
     * @param beat begins a heartbeat, and calls {@link #ended} at its end
     */
    HeartbeatTimer(Scheduler.Worker thread, LongSupplier clock, Runnable beat) {
        this.thread = thread;
        this.clock = clock;
        this.beat = beat;
        this.lastBeat = clock.getAsLong() - BEATS.toNanos();
    }

    /** When the latest heartbeat began. */
    long lastBeat() {
        return lastBeat;
    }

    /** Begins a heartbeat, and another one each time that {@link #BEATS} has gone by. */
    void start() {
        due(isBeating ? Due.SOON : Due.AT_ONCE);
        var unused = thread.schedule(this::start, BEATS.toNanos(), TimeUnit.NANOSECONDS);
    }

    void soon() {
        due(Due.SOON);
    }

    /** @param ended runs when a heartbeat that has begun after this call has ended, answered or not */
    void atOnce(Runnable ended) {
        afterNext.add(ended);
        due(Due.AT_ONCE);
    }

    private void due(Due when) {
        if (isBeating) {
            next = when.compareTo(next) > 0 ? when : next;
            return;
        }
        long delay = Math.max(0, lastBeat + LEAST_BETWEEN_BEATS.toNanos() - clock.getAsLong());
        if (when == Due.AT_ONCE || delay == 0) {
            begin();
        } else if (!isScheduled) {
            isScheduled = true;
            var unused = thread.schedule(this::scheduled, delay, TimeUnit.NANOSECONDS);
        }
    }

    private void scheduled() {
        isScheduled = false;
        due(Due.SOON);
    }

    private void begin() {
        isBeating = true;
        lastBeat = clock.getAsLong();
        afterThis = afterNext;
        afterNext = new ArrayList<>();
        beat.run();
    }

    /** The heartbeat has ended. */
    void ended() {
        List<Runnable> waiting = afterThis;
        afterThis = new ArrayList<>();
        isBeating = false;
        Due due = next;
        next = Due.NOT;
        if (due != Due.NOT) {
            due(due);
        }
        waiting.forEach(Runnable::run);
    }
}
