package io.fairgate.gateway.http;

import io.fairgate.spring.exchange.MovingDeadline;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.CleartextHttp2ServerUpgradeHandler.PriorKnowledgeUpgradeEvent;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.netty.http.HttpConnectionLiveness;
import reactor.netty.http.IdleTimeoutHandler;
import reactor.netty.http.server.HttpServer;

/**
 * Closes connections of HTTP/1.1 that have had no request for a while. Reactor Netty does the same, but removes its handler
 * and its timer at each request and adds both again after the response.
 *
 * <p>It is placed after the codec of a connection without TLS. A connection that begins with HTTP/2 gets Reactor Netty's
 * handler, which then stays. It runs on the event loop only.
 */
public final class IdleConnections extends ChannelDuplexHandler {

    private final Duration most;
    private @Nullable MovingDeadline deadline;
    private final UnansweredRequests unanswered = new UnansweredRequests();

    private IdleConnections(Duration most) {
        this.most = most;
    }

    /** Adds it to all connections of a server without TLS. */
    public static HttpServer closedBy(HttpServer server, Duration most) {
        return Http1Pipelines.change(server, pipeline -> addTo(pipeline, most));
    }

    static void addTo(ChannelPipeline pipeline, Duration most) {
        Http1Pipelines.add(pipeline, "fairgate.idle", new IdleConnections(most));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        deadline = new MovingDeadline(context.executor(), () -> close(context));
        if (context.channel().isActive()) {
            beginPause();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        beginPause();
        context.fireChannelActive();
    }

    private void beginPause() {
        deadline().set(most.toNanos());
    }

    private MovingDeadline deadline() {
        return Objects.requireNonNull(deadline);
    }

    /** A response whose end the client has not read yet is not over. */
    private void close(ChannelHandlerContext context) {
        ChannelOutboundBuffer unsent = context.channel().unsafe().outboundBuffer();
        if (unsent != null && unsent.totalPendingWriteBytes() > 0) {
            beginPause();
        } else {
            var unused = context.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (unanswered.read(part)) {
            deadline().clear();
        }
        context.fireChannelRead(part);
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        if (unanswered.written(part) && unanswered.count() == 0) {
            beginPause();
        }
        var unused = context.write(part, promise);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof PriorKnowledgeUpgradeEvent) {
            IdleTimeoutHandler.addIdleTimeoutHandler(context.pipeline(), most, HttpConnectionLiveness.CLOSE);
            context.fireUserEventTriggered(event);
            context.pipeline().remove(this);
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        deadline().stop();
    }
}
