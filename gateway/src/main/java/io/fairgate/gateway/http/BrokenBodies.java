package io.fairgate.gateway.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import reactor.netty.http.server.HttpServer;

/**
 * Answers 400 to a body with malformed chunks, if no answer has begun, and closes the connection. The code that reads the
 * body gets an error. Reactor Netty answers 400 as well, but then ends the body as if it were complete: the part that had
 * arrived would be processed, or sent to an upstream as a complete request (RFC 9112, 8).
 *
 * <p>It is placed after the codec. It runs on the event loop only.
 */
public final class BrokenBodies extends ChannelDuplexHandler {

    private final UnansweredRequests unanswered = new UnansweredRequests();
    private boolean broken;

    private BrokenBodies() {}

    /** Adds it to all HTTP/1.1 connections of the server. */
    public static HttpServer refusedBy(HttpServer server) {
        return Http1Pipelines.change(server, BrokenBodies::addTo);
    }

    static void addTo(ChannelPipeline pipeline) {
        Http1Pipelines.add(pipeline, "fairgate.bodies", new BrokenBodies());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (broken) {
            ReferenceCountUtil.release(part);
        } else if (part instanceof HttpContent content
                && !(part instanceof HttpRequest)
                && content.decoderResult().isFailure()) {
            ReferenceCountUtil.release(part);
            end(context);
        } else {
            unanswered.read(part);
            context.fireChannelRead(part);
        }
    }

    private void end(ChannelHandlerContext context) {
        broken = true;
        if (unanswered.count() == 1 && !unanswered.isAnswering()) {
            FullHttpResponse refusal =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST);
            refusal.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, 0)
                    .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
            var unused = context.writeAndFlush(refusal).addListener(ChannelFutureListener.CLOSE);
        } else {
            var unused = context.close();
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        unanswered.written(part);
        var unused = context.write(part, promise);
    }
}
