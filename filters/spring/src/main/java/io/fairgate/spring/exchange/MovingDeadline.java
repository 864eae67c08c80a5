package io.fairgate.spring.exchange;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A deadline on an event loop that is moved for each request and almost never reached. It has at most one task, which
 * runs when the deadline of an earlier request would have been reached, and waits again if the deadline has moved since.
 * So a request only writes a number. A timer for each request would take objects and the timer queue of the event loop
 * twice.
 *
 * <p>All methods must be called on the event loop, except {@link #stop}.
 */
public final class MovingDeadline {

    private final EventExecutor loop;
    private final Runnable reached;
    private boolean isSet;
    private long at;
    private long taskAt;
    private volatile @Nullable Future<?> task;

    /** @param reached runs on the event loop when the deadline is reached, which is not set any more then */
    public MovingDeadline(EventExecutor loop, Runnable reached) {
        this.loop = loop;
        this.reached = reached;
    }

    /** Moves the deadline, or sets it. */
    public void set(long nanosFromNow) {
        at = loop.ticker().nanoTime() + nanosFromNow;
        isSet = true;
        Future<?> armed = task;
        if (armed == null) {
            arm(nanosFromNow);
        } else if (taskAt - at > 0) {
            armed.cancel(false);
            arm(nanosFromNow);
        }
    }

    /** The task stays, because the next request most often sets the deadline again before it runs. */
    public void clear() {
        isSet = false;
    }

    /** Cancels the task, because the connection is closed: a deadline that is set is not reached. */
    public void stop() {
        Future<?> armed = task;
        if (armed != null) {
            armed.cancel(false);
        }
    }

    private void arm(long nanos) {
        taskAt = at;
        task = loop.schedule(this::run, nanos, TimeUnit.NANOSECONDS);
    }

    private void run() {
        task = null;
        if (!isSet) {
            return;
        }
        long left = at - loop.ticker().nanoTime();
        if (left > 0) {
            arm(left);
        } else {
            isSet = false;
            reached.run();
        }
    }
}
