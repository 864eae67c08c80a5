package io.fairgate.spring.pace;

import io.fairgate.permit.PermitPool;
import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * How fast a client must send the body of a request, and read the response while it holds permits.
 *
 * @param pauseNanos the longest time without a byte of a body; 0 for no limit
 * @param bytesPerSecond on average of ten seconds, while the pool is full; 0 for no limit
 */
public record Pace(long pauseNanos, long bytesPerSecond) {

    /** A client that sends in bursts, or loses a packet, must not look slow. */
    static final int WINDOW_SECONDS = 10;

    static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS);

    /** Whether no body need be looked at. */
    public boolean hasNoLimit() {
        return pauseNanos == 0 && bytesPerSecond == 0;
    }

    /** Whether so many bytes in so many nanoseconds are enough. */
    boolean isKept(long bytes, long nanos) {
        return bytes >= bytesPerSecond * (nanos / 1e9);
    }

    /**
     * Runs a task on the event loop if the pool is full. Not only if requests wait: others may have been refused, or wait at another
     * gateway. Requests that wait may need more permits than are free.
     */
    static void ifFull(PermitPool pool, EventLoop loop, Runnable task) {
        var unused = pool.totals().onErrorComplete().subscribe(totals -> {
            if (totals.inFlight() >= totals.permits() || totals.waiting() > 0) {
                try {
                    loop.execute(task);
                } catch (RejectedExecutionException shutDown) {
                    // Its connections are closed then.
                }
            }
        });
    }
}
