package io.fairgate.gateway.http;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Passes on the requests of one HTTP/1.1 connection one at a time: the next one when the response before it has been written
 * to its end.
 *
 * <p>Reactor Netty (1.3.8) queues such requests itself, but drops one with {@code Connection: close}: it closes the connection
 * after the response before. That also happens to a client that sends its requests one after the other, because it may have
 * read the last byte of a response before Reactor Netty has noted its end.
 *
 * <p>It is placed before Reactor Netty's handler of requests, behind all others. It runs on the event loop only.
 */
public final class PipelinedRequests extends ChannelDuplexHandler {

    static final String NAME = "fairgate.pipelined";

    /** The bytes of bodies that may wait before no more is read. Netty's codec bounds the number of requests, to 128. */
    private static final int MOST = 65_536;

    private final UnansweredRequests unanswered = new UnansweredRequests();
    private @Nullable Queue<Object> waiting;
    private int waitingBytes;
    private boolean mayRead;

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
        boolean isNext = part instanceof HttpRequest && unanswered.count() > 0;
        if (waiting == null && !isNext) {
            pass(context, part);
        } else {
            if (waiting == null) {
                waiting = new ArrayDeque<>();
            }
            waiting.add(part);
            waitingBytes += bytes(part);
        }
    }

    private static int bytes(Object part) {
        return part instanceof ByteBufHolder holder ? holder.content().readableBytes() : 0;
    }

    private void pass(ChannelHandlerContext context, Object part) {
        unanswered.read(part);
        context.fireChannelRead(part);
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        boolean isEnd = unanswered.written(part);
        if (isEnd && waiting != null) {
            // Reactor Netty ends the request in a listener, when the part has been sent. It adds that after this one.
            var unused = context.write(
                    part,
                    promise.unvoid().addListener(sent -> context.executor().execute(() -> passNext(context))));
        } else {
            var unused = context.write(part, promise);
        }
    }

    private void passNext(ChannelHandlerContext context) {
        if (waiting == null || !context.channel().isActive()) {
            return;
        }
        Queue<Object> parts = waiting;
        while (!parts.isEmpty() && !(parts.peek() instanceof HttpRequest && unanswered.count() > 0)) {
            Object part = Objects.requireNonNull(parts.poll());
            waitingBytes -= bytes(part);
            pass(context, part);
        }
        if (parts.isEmpty()) {
            waiting = null;
        }
        context.fireChannelReadComplete();
        if (mayRead) {
            read(context);
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        mayRead = waitingBytes >= MOST;
        if (!mayRead) {
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
        if (waiting != null) {
            waiting.forEach(ReferenceCountUtil::release);
            waiting = null;
        }
    }
}
