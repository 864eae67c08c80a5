package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.function.Consumer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Adds handlers to the connections of a server that may speak HTTP/1.1. Without TLS they are added when a connection is
 * accepted: HTTP/2 that begins with its preface passes them by. With TLS and a choice of protocols (ALPN) they are added when
 * HTTP/1.1 has been chosen.
 */
final class Http1Pipelines {

    private Http1Pipelines() {}

    static HttpServer change(HttpServer server, Consumer<ChannelPipeline> change) {
        return server.doOnChannelInit((observer, channel, remote) -> change(channel.pipeline(), change));
    }

    private static void change(ChannelPipeline pipeline, Consumer<ChannelPipeline> change) {
        if (pipeline.get(NettyPipeline.HttpTrafficHandler) != null) {
            change.accept(pipeline);
        } else if (pipeline.get(NettyPipeline.H2OrHttp11Codec) != null) {
            pipeline.addAfter(NettyPipeline.H2OrHttp11Codec, null, new Choice(change));
        }
    }

    /** Adds a handler of requests and responses behind the codec, before the one that lets requests pass one at a time. */
    static void add(ChannelPipeline pipeline, String name, ChannelHandler handler) {
        String next = pipeline.get(PipelinedRequests.NAME) == null
                ? NettyPipeline.HttpTrafficHandler
                : PipelinedRequests.NAME;
        pipeline.addBefore(next, name, handler);
    }

    /** Waits for the protocol that TLS chooses. Reactor Netty adds its handlers at the same event, before this handler gets it. */
    private static final class Choice extends ChannelInboundHandlerAdapter {

        private final Consumer<ChannelPipeline> change;

        Choice(Consumer<ChannelPipeline> change) {
            this.change = change;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent) {
                if (context.pipeline().get(NettyPipeline.HttpTrafficHandler) != null) {
                    change.accept(context.pipeline());
                }
                context.fireUserEventTriggered(event);
                context.pipeline().remove(this);
            } else {
                context.fireUserEventTriggered(event);
            }
        }
    }
}
