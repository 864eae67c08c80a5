package io.fairgate.spring.pace;

import io.fairgate.permit.PermitPool;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/**
 * The response to a request that holds permits. It ends when its client reads too slowly while the pool is full: otherwise a few
 * clients that read nothing could keep all permits. Only the time in which there is something to read counts.
 *
 * <p>{@link PacedResponses} looks at it now and then. All runs on the event loop of the client's connection, except {@link #end}.
 */
public final class PacedResponse {

    private final @Nullable Connection client;
    private final Pace pace;
    private final PermitPool pool;
    private volatile @Nullable Consumer<Throwable> slow;

    private boolean isBehind;
    private long behindSince;
    private OptionalLong acknowledgedBefore = OptionalLong.empty();
    private long creditsInWindow;

    /**
     * Has no effect yet.
     *
     * @param client its connection, or, over HTTP/2, its stream; null if there is none, and then nothing has an effect
     * @param slow gets the failure, on the event loop, when the client is too slow, unless {@link #end} was called
     */
    public PacedResponse(@Nullable Connection client, Pace pace, PermitPool pool, Consumer<Throwable> slow) {
        this.client = client;
        this.pace = pace;
        this.pool = pool;
        this.slow = slow;
    }

    /** The request holds permits from now on. */
    public void begin() {
        if (client == null || pace.bytesPerSecond() == 0) {
            return;
        }
        EventLoop loop = client.channel().eventLoop();
        if (loop.inEventLoop()) {
            PacedResponses.add(this);
            return;
        }
        try {
            loop.execute(() -> PacedResponses.add(this));
        } catch (RejectedExecutionException shutDown) {
            // Its connections are closed then.
        }
    }

    /** The request has ended. May be called on any thread, and more than once. */
    public void end() {
        slow = null;
    }

    boolean isOver() {
        return slow == null;
    }

    Channel channel() {
        return Objects.requireNonNull(client).channel();
    }

    /** Over HTTP/2, the client allows so many more bytes of this response. */
    void allowed(int bytes) {
        creditsInWindow += bytes;
    }

    void look(PacedResponses connection, long now) {
        Channel channel = channel();
        if (!connection.hasUnsent(channel)) {
            isBehind = false;
        } else if (!isBehind) {
            isBehind = true;
            beginWindow(connection, now);
        } else if (now - behindSince >= Pace.WINDOW_NANOS) {
            long taken = connection.waitsForCredit(channel)
                    ? creditsInWindow
                    : connection.acknowledgedSince(acknowledgedBefore);
            if (!pace.isKept(taken)) {
                Pace.ifFull(pool, channel.eventLoop(), this::giveUp);
            }
            beginWindow(connection, now);
        }
    }

    private void beginWindow(PacedResponses connection, long now) {
        behindSince = now;
        acknowledgedBefore = connection.beginWindow();
        creditsInWindow = 0;
    }

    private void giveUp() {
        @Nullable Consumer<Throwable> told = slow;
        if (told != null) {
            end();
            told.accept(new SlowReaderException());
        }
    }
}
