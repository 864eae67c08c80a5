package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import reactor.netty.http.server.HttpServer;

/**
 * Serves a request with {@code Upgrade: h2c} over HTTP/1.1, as RFC 9113 has it, which took this upgrade away. HTTP/2 that
 * begins with its own preface (prior knowledge) stays.
 *
 * <p>Reactor Netty offers both together. A front proxy that passes the upgrade on becomes a tunnel: what the client sends
 * through it has not been seen by the proxy, and may name any tenant. Netty's handler of upgrades also refuses with 413 every
 * request with a body that has an {@code Upgrade} field, whatever it says; Java's own client sends one with every request.
 *
 * <p>This stands between the codec and that handler. What comes first shows which protocol the connection has: after a
 * preface Netty takes its handler out by itself, and before a request of HTTP/1.1 this takes it out.
 */
public final class NoUpgradeToHttp2 extends ChannelInboundHandlerAdapter {

    private NoUpgradeToHttp2() {}

    /** The server, with no upgrade on any of its connections. */
    public static HttpServer on(HttpServer server) {
        return server.doOnChannelInit((observer, channel, remote) -> addTo(channel.pipeline()));
    }

    private static void addTo(ChannelPipeline pipeline) {
        ChannelHandlerContext upgrades = pipeline.context(HttpServerUpgradeHandler.class);
        if (upgrades != null) {
            pipeline.addBefore(upgrades.name(), "fairgate.noUpgrade", new NoUpgradeToHttp2());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object first) {
        if (first instanceof HttpRequest) {
            context.pipeline().remove(HttpServerUpgradeHandler.class);
        }
        context.fireChannelRead(first);
        context.pipeline().remove(this);
    }
}
