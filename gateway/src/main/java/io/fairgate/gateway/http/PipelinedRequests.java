package io.fairgate.gateway.http;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Passes on the requests of one HTTP/1.1 connection one at a time: the next one when the response before it has been sent.
 *
 * <p>Reactor Netty (1.3.8) queues such requests itself, but drops one with {@code Connection: close}: it closes the connection
 * after the response before. That also happens to a client that sends its requests one after the other, because it may have
 * read the last byte of a response before Reactor Netty has noted its end.
 *
 * <p>It is placed before Reactor Netty's handler of requests, behind all others. It runs on the event loop only.
 */
public final class PipelinedRequests extends ChannelDuplexHandler {

    static final String NAME = "fairgate.pipelined";

    /** The bytes that may wait before no more is read. Netty's codec bounds the number of requests, to 128. */
    private static final int MOST_WAITING = 65_536;

    /** What a part takes beside the bytes of its content. */
    private static final int BYTES_A_PART = 256;

    private final ChannelFutureListener whenSent = this::sent;
    private final UnansweredRequests unanswered = new UnansweredRequests();
    private @Nullable Queue<Object> waiting;
    private int waitingBytes;
    private boolean isSending;
    private boolean isReadHeldBack;

    private PipelinedRequests() {}

    /** Adds it to all HTTP/1.1 connections of the server. */
    public static HttpServer inTurn(HttpServer server) {
        return Http1Pipelines.change(server, PipelinedRequests::addTo);
    }

    static void addTo(ChannelPipeline pipeline) {
        pipeline.addBefore(NettyPipeline.HttpTrafficHandler, NAME, new PipelinedRequests());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (waiting == null && !mustWait(part)) {
            pass(context, part);
        } else {
            if (waiting == null) {
                waiting = new ArrayDeque<>();
            }
            waiting.add(part);
            waitingBytes += bytes(part);
        }
    }

    /** A response that has been written may still be in the buffer of the connection; Reactor Netty ends it when it is sent. */
    private boolean mustWait(Object part) {
        return part instanceof HttpRequest && (isSending || unanswered.count() > 0);
    }

    private static int bytes(Object part) {
        return BYTES_A_PART
                + (part instanceof ByteBufHolder holder ? holder.content().readableBytes() : 0);
    }

    private void pass(ChannelHandlerContext context, Object part) {
        unanswered.read(part);
        context.fireChannelRead(part);
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        if (part instanceof HttpResponse response && response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            switchProtocols(context, part, promise);
        } else if (unanswered.written(part)) {
            isSending = true;
            var unused = context.write(part, promise.unvoid().addListener(whenSent));
        } else {
            var unused = context.write(part, promise);
        }
    }

    /** What follows are no requests. A client that has sent more before it could know that is disconnected: it was read as a request. */
    private void switchProtocols(ChannelHandlerContext context, Object response, ChannelPromise promise) {
        boolean isLost = waiting != null;
        context.pipeline().remove(this);
        if (isLost) {
            ReferenceCountUtil.release(response);
            var unused = context.close(promise);
        } else {
            var unused = context.write(response, promise);
        }
    }

    /** Reactor Netty ends the request in a listener of its own, which is called after this one. */
    private void sent(ChannelFuture end) {
        isSending = false;
        ChannelHandlerContext context = end.channel().pipeline().context(this);
        if (waiting != null && context != null) {
            context.executor().execute(() -> passNext(context));
        }
    }

    private void passNext(ChannelHandlerContext context) {
        while (waiting != null && !waiting.isEmpty() && !mustWait(waiting.element())) {
            Object part = waiting.remove();
            waitingBytes -= bytes(part);
            pass(context, part);
        }
        if (waiting != null && waiting.isEmpty()) {
            waiting = null;
        }
        context.fireChannelReadComplete();
        if (isReadHeldBack) {
            read(context);
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        isReadHeldBack = waitingBytes >= MOST_WAITING;
        if (!isReadHeldBack) {
            context.read();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        releaseAll();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        releaseAll();
    }

    private void releaseAll() {
        while (waiting != null && !waiting.isEmpty()) {
            ReferenceCountUtil.release(waiting.remove());
        }
        waiting = null;
        waitingBytes = 0;
    }
}
