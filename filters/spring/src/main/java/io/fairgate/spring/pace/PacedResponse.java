package io.fairgate.spring.pace;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.exchange.ClientConnection;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/**
 * The response to a request that holds permits. It ends when its client reads too slowly while the pool is full: otherwise a few
 * clients that read nothing could keep all permits. Only the time in which there is something to read counts.
 *
 * <p>{@link PacedResponses} looks at it now and then. All runs on the event loop of the client's connection, except {@link #end}.
 */
public final class PacedResponse {

    /** The request that is answered. */
    public interface Request {

        /**
         * Whether another server passes the response on. Its own buffer for the client takes megabytes at once and then nothing until a part of
         * it is free, so that it has a minute.
         */
        boolean comesThroughProxy();

        /** Ends it, on the event loop, because its client reads too slowly. */
        void breakOff(SlowReaderException slow);
    }

    private static final long PROXY_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final @Nullable Connection client;
    private final Pace pace;
    private final PermitPool pool;
    private volatile @Nullable Request request;

    private boolean isBehind;
    private long behindSince;
    private OptionalLong acknowledgedBefore = OptionalLong.empty();
    private long sentSince;

    /**
     * Has no effect yet.
     *
     * @param client the connection of the client, or over HTTP/2 its stream; null if there is none: then the response is never ended
     */
    public PacedResponse(@Nullable Connection client, Pace pace, PermitPool pool, Request request) {
        this.client = client;
        this.pace = pace;
        this.pool = pool;
        this.request = request;
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
        request = null;
    }

    boolean isOver() {
        return request == null;
    }

    Channel channel() {
        return Objects.requireNonNull(client).channel();
    }

    /** Over HTTP/2, so many bytes of this response have been sent. */
    void sent(int bytes) {
        sentSince += bytes;
    }

    /** Whether something of it waits for its client. */
    boolean lookWhetherBehind(PacedResponses connection, long now) {
        boolean wasBehind = isBehind;
        isBehind = ClientConnection.hasUnsent(channel());
        if (isBehind && !wasBehind) {
            behindSince = now;
            acknowledgedBefore = connection.beginToCount();
            sentSince = 0;
        }
        return isBehind;
    }

    /** @param behind how many responses wait for the client of this connection */
    void endIfTooSlow(PacedResponses connection, int behind, long now) {
        Request answered = request;
        long nanos = now - behindSince;
        if (answered == null || !isBehind || nanos < Pace.WINDOW_NANOS) {
            return;
        }
        long read = connection.mayNotSend(channel())
                ? sentSince
                : connection.acknowledgedSince(acknowledgedBefore) / behind;
        if (!pace.isKept(read, nanos) && (nanos >= PROXY_NANOS || !answered.comesThroughProxy())) {
            Pace.ifFull(pool, channel().eventLoop(), this::giveUp);
        }
    }

    private void giveUp() {
        Request answered = request;
        if (answered != null) {
            end();
            answered.breakOff(new SlowReaderException());
        }
    }
}
