package io.fairgate.gateway.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerState;

/**
 * Answers 400 to a request of HTTP/2 whose body does not have the length that it says, or that breaks the protocol in another
 * way, if no answer has begun (RFC 9113, 8.1.1 allows an answer). Then Netty closes the stream, as when a client leaves: the request
 * is cancelled, and the code that reads the body gets an error.
 *
 * <p>There is one for each stream, behind the codec. It runs on the event loop only.
 */
public final class BrokenStreams extends ChannelDuplexHandler {

    private boolean isAnswering;
    private @Nullable Throwable broken;

    private BrokenStreams() {}

    /** Adds it to all streams of the server. */
    public static HttpServer refusedBy(HttpServer server) {
        return server.childObserve((connection, state) -> {
            if (state == HttpServerState.REQUEST_RECEIVED
                    && connection.channel() instanceof Http2StreamChannel stream) {
                addTo(stream);
            }
        });
    }

    static void addTo(Channel stream) {
        if (stream.pipeline().get(NettyPipeline.H2ToHttp11Codec) != null) {
            stream.pipeline().addAfter(NettyPipeline.H2ToHttp11Codec, "fairgate.stream", new BrokenStreams());
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        if (broken != null) {
            ReferenceCountUtil.release(part);
            promise.tryFailure(new ClosedChannelException());
            return;
        }
        if (part instanceof HttpResponse response) {
            isAnswering = response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
        }
        var unused = context.write(part, promise);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
        if (isAnswering || !(failure instanceof Http2Exception http2) || http2.error() != Http2Error.PROTOCOL_ERROR) {
            context.fireExceptionCaught(failure);
        } else if (broken == null) {
            broken = failure;
            FullHttpResponse refusal =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST);
            refusal.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
            var unused = context.writeAndFlush(refusal);
        }
    }

    /** Passes the error on only now: Reactor Netty (1.3.8) does not cancel a request whose body it has not read when the error comes first. */
    @Override
    public void channelInactive(ChannelHandlerContext context) {
        context.fireChannelInactive();
        if (broken != null) {
            context.fireExceptionCaught(broken);
        }
    }
}
