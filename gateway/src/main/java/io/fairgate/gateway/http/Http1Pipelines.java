package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import java.util.function.Consumer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Adds handlers to the connections of a server that may speak HTTP/1.1. Without TLS they are added when a connection is
 * accepted: HTTP/2 that begins with its preface passes them by. With TLS and a choice of protocols they are added when HTTP/1.1
 * has been chosen.
 */
final class Http1Pipelines {

    private Http1Pipelines() {}

    static HttpServer change(HttpServer server, Consumer<ChannelPipeline> change) {
        return server.doOnChannelInit((observer, channel, remote) -> {
            if (channel.pipeline().get(NettyPipeline.HttpTrafficHandler) != null) {
                change.accept(channel.pipeline());
            } else {
                ProtocolChoice.await(channel.pipeline(), NettyPipeline.HttpTrafficHandler, change);
            }
        });
    }

    /**
     * Adds a handler of requests and responses behind the codec, before the one that lets requests pass one at a time, in whatever
     * order they are added.
     */
    static void add(ChannelPipeline pipeline, String name, ChannelHandler handler) {
        String next = pipeline.get(PipelinedRequests.NAME) == null
                ? NettyPipeline.HttpTrafficHandler
                : PipelinedRequests.NAME;
        pipeline.addBefore(next, name, handler);
    }
}
