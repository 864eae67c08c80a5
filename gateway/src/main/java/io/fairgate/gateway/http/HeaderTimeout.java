package io.fairgate.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.CleartextHttp2ServerUpgradeHandler.PriorKnowledgeUpgradeEvent;
import io.netty.util.ByteProcessor;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Closes a connection when the headers of a request do not end in time, even if bytes arrive steadily. The server's own
 * timeouts start when the headers have been read, or start again with each byte. HTTP/2 has no such bound.
 *
 * <p>One part is before the codec, where bytes arrive, one after it, where requests come out. Both run on the event loop.
 */
public final class HeaderTimeout extends ChannelInboundHandlerAdapter {

    private final Duration most;
    private final UnansweredRequests unanswered = new UnansweredRequests();
    private boolean inRequest;
    private @Nullable Future<?> end;

    private HeaderTimeout(Duration most) {
        this.most = most;
    }

    /** Adds it to all HTTP/1.1 connections of the server. */
    public static HttpServer of(HttpServer server, Duration most) {
        return Http1Pipelines.change(server, pipeline -> addTo(pipeline, most));
    }

    /** The preface of HTTP/2 without TLS is looked for before the codec; it counts as headers. */
    static void addTo(ChannelPipeline pipeline, Duration most) {
        HeaderTimeout timeout = new HeaderTimeout(most);
        String codec = pipeline.context(HttpServerCodec.class).name();
        boolean mayBeHttp2 = pipeline.get(NettyPipeline.H2CUpgradeHandler) != null;
        pipeline.addBefore(mayBeHttp2 ? NettyPipeline.H2CUpgradeHandler : codec, "fairgate.bytes", timeout);
        pipeline.addAfter(codec, "fairgate.requests", timeout.new Requests());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
        if (!inRequest && end == null && !isBlank(bytes)) {
            begin(context);
        }
        context.fireChannelRead(bytes);
    }

    /** Line ends after a body, which some clients send, do not begin a request (RFC 9112, 2.2). */
    private static boolean isBlank(Object bytes) {
        return bytes instanceof ByteBuf buffer && buffer.forEachByte(ByteProcessor.FIND_NON_CRLF) < 0;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stop();
        context.fireChannelInactive();
    }

    private void begin(ChannelHandlerContext context) {
        end = context.executor().schedule(() -> close(context), most.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** While an earlier request is being answered, {@link PipelinedRequests} may have stopped to read. */
    private void close(ChannelHandlerContext context) {
        if (unanswered.count() > 0) {
            begin(context);
        } else {
            var unused = context.close();
        }
    }

    private void stop() {
        if (end != null) {
            end.cancel(false);
            end = null;
        }
    }

    private final class Requests extends ChannelDuplexHandler {

        @Override
        public void channelRead(ChannelHandlerContext context, Object part) {
            if (unanswered.read(part)) {
                inRequest = true;
                stop();
            }
            if (part instanceof LastHttpContent) {
                inRequest = false;
            }
            context.fireChannelRead(part);
        }

        @Override
        public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
            unanswered.written(part);
            if (part instanceof HttpResponse response
                    && response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
                leave(context);
            }
            var unused = context.write(part, promise);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            context.fireUserEventTriggered(event);
            if (event instanceof PriorKnowledgeUpgradeEvent) {
                leave(context);
            }
        }

        /** What follows has no headers of HTTP/1.1. */
        private void leave(ChannelHandlerContext context) {
            stop();
            context.pipeline().remove(HeaderTimeout.this);
            context.pipeline().remove(this);
        }
    }
}
