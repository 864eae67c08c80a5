package io.fairgate.spring.websocket;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.netty.Connection;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Passes bytes between the connections of a client and of an upstream, as they are, in both directions, after the upstream has
 * accepted the handshake of a WebSocket.
 *
 * <p>When one side ends its output, the other side gets the same end after the bytes before it, and can still send its own. The
 * tunnel ends when nothing has passed for a while; after such an end has been sent, that is a short while. It is over when both
 * connections are closed.
 */
final class Tunnel {

    /** How long a side may be silent after the other one has ended its output, and that end has been sent. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How often a check is made while the tunnel may become idle, so that slow receivers are seen. */
    private static final int CHECKS = 4;

    private final Channel client;
    private final SwitchedUpstream upstream;
    private final TunnelEnd clientEnd;
    private final TunnelEnd upstreamEnd;
    private final Promise<Void> over;
    private final long idleNanos;
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger(2);
    private volatile long passedAt;

    /** Used on the event loop of the client only. */
    private @Nullable Future<?> idleCheck;

    private long unsentBefore;

    private Tunnel(Channel client, SwitchedUpstream upstream, Duration idle) {
        this.client = client;
        this.upstream = upstream;
        this.idleNanos = idle.toNanos();
        this.clientEnd = new TunnelEnd(this, client, upstream.channel());
        this.upstreamEnd = new TunnelEnd(this, upstream.channel(), client);
        this.over = client.eventLoop().newPromise();
    }

    /**
     * Sends the response with status 101, and completes when both connections are closed. A cancellation closes both.
     *
     * @param client the connection of the client; it must be HTTP/1.1
     * @param response its response, of which nothing has been sent
     * @param idle how long no bytes may pass
     */
    static Mono<Void> between(
            Connection client, HttpServerResponse response, SwitchedUpstream upstream, Duration idle) {
        return Mono.create(sink -> new Tunnel(client.channel(), upstream, idle).open(response, sink));
    }

    private void open(HttpServerResponse response, MonoSink<Void> sink) {
        passes();
        sink.onCancel(this::close);
        client.closeFuture().addListener(closed -> oneIsClosed(sink));
        upstream.channel().closeFuture().addListener(closed -> oneIsClosed(sink));
        execute(client, () -> switchClient(response));
    }

    private void oneIsClosed(MonoSink<Void> sink) {
        if (open.decrementAndGet() == 0) {
            sink.success();
            over.trySuccess(null);
        }
    }

    /** From here on, nothing in the client's connection reads or writes HTTP. */
    private void switchClient(HttpServerResponse response) {
        if (!client.isActive()) {
            close();
            return;
        }
        client.config().setAutoRead(false);
        ChannelPipeline pipeline = client.pipeline();
        pipeline.addBefore(NettyPipeline.ReactiveBridge, TunnelEnd.NAME, clientEnd);
        pipeline.remove(NettyPipeline.HttpTrafficHandler); // It would write what follows from "Connection: close".
        send(response);
        TunnelEnd.allowHalfClosure(client);
        pipeline.remove(HttpServerCodec.class);
        if (clientEnd.hasEarlyBytes()) {
            // The codec had them: they came before the response, and it may have skipped others as no part of a
            // request.
            close();
            return;
        }
        checkIdle();
        execute(upstream.channel(), () -> {
            upstream.begin(upstreamEnd);
            execute(client, () -> clientEnd.begin(Unpooled.EMPTY_BUFFER));
        });
    }

    private void send(HttpServerResponse response) {
        response.responseHeaders()
                .remove(HttpHeaderNames.TRANSFER_ENCODING)
                .remove(HttpHeaderNames.CONTENT_LENGTH)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE)
                .set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET);
        var unused = response.sendHeaders().then().subscribe(null, failure -> close());
    }

    private void execute(Channel channel, Runnable task) {
        try {
            channel.eventLoop().execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException e) {
                    close();
                    throw e;
                }
            });
        } catch (RejectedExecutionException shutDown) {
            close();
        }
    }

    private void close() {
        var unused = client.close();
        upstream.close();
    }

    // ---- what the ends tell, each on its own event loop ----

    TunnelEnd opposite(TunnelEnd end) {
        return end == clientEnd ? upstreamEnd : clientEnd;
    }

    /** Bytes are passing. */
    void passes() {
        passedAt = client.eventLoop().ticker().nanoTime();
    }

    /** No more bytes come from one end; returns whether none come from the other one either. */
    boolean ends() {
        boolean areBothOver = ended.incrementAndGet() == 2;
        passes();
        execute(client, this::checkIdle);
        return areBothOver;
    }

    /** Reactor Netty cancels a request whose client's connection is closed. What came from the client may still have to be sent. */
    void closed(TunnelEnd end, ChannelHandlerContext context) {
        if (end == clientEnd) {
            over.addListener(done -> context.fireChannelInactive());
        } else {
            upstream.close();
            context.fireChannelInactive();
        }
    }

    private static long unsent(Channel channel) {
        ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer();
        return unsent == null ? 0 : unsent.totalPendingWriteBytes();
    }

    /** On the event loop of the client. Bytes pass also while the receiver takes what was read before. */
    private void checkIdle() {
        if (idleCheck != null) {
            idleCheck.cancel(false);
        }
        if (over.isDone()) {
            return;
        }
        long unsent = unsent(client) + unsent(upstream.channel());
        if (unsent < unsentBefore) {
            passes();
        }
        unsentBefore = unsent;
        boolean hasEnd = ended.get() > 0;
        long most = hasEnd && unsent == 0 ? Math.min(LAST_NANOS, idleNanos) : idleNanos;
        long left = passedAt + most - client.eventLoop().ticker().nanoTime();
        if (left > 0) {
            long next = Math.min(left, hasEnd ? LAST_NANOS : idleNanos / CHECKS);
            idleCheck = client.eventLoop().schedule(this::checkIdle, next, TimeUnit.NANOSECONDS);
        } else {
            close();
        }
    }
}
