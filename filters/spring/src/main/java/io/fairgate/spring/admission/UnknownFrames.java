package io.fairgate.spring.admission;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2UnknownFrame;
import io.netty.util.ReferenceCountUtil;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerState;

/**
 * Ignores frames of HTTP/2 that have no known type, as RFC 9113, 5.5 demands. Reactor Netty (1.3.8) takes their content for a part of the
 * body, and Netty does not count it when it compares a body with its length: an upstream that speaks HTTP/1.1 would read what is
 * beyond the length as the next request, of whatever tenant the client chooses.
 *
 * <p>It is in the channel of each stream, before the codec, from the head of the request on. It runs on the event loop only.
 */
@Sharable
final class UnknownFrames extends ChannelInboundHandlerAdapter {

    private static final UnknownFrames INSTANCE = new UnknownFrames();
    private static final String NAME = "fairgate.unknown";

    private UnknownFrames() {}

    /** Adds it to all streams of the server. */
    static HttpServer ignoredBy(HttpServer server) {
        return server.childObserve((connection, state) -> {
            if (state == HttpServerState.REQUEST_RECEIVED
                    && connection.channel() instanceof Http2StreamChannel stream) {
                addTo(stream.pipeline());
            }
        });
    }

    private static void addTo(ChannelPipeline stream) {
        if (stream.get(NettyPipeline.H2ToHttp11Codec) != null && stream.get(NAME) == null) {
            stream.addBefore(NettyPipeline.H2ToHttp11Codec, NAME, INSTANCE);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (part instanceof Http2UnknownFrame) {
            ReferenceCountUtil.release(part);
        } else {
            context.fireChannelRead(part);
        }
    }
}
