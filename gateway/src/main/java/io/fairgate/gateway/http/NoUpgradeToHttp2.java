package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import reactor.netty.http.server.HttpServer;

/**
 * Serves a request with {@code Upgrade: h2c} over HTTP/1.1, as RFC 9113 says, which removed this upgrade. HTTP/2 that
 * begins with its own preface (prior knowledge) is still served.
 *
 * <p>Reactor Netty offers only both together. A front proxy that passes the upgrade on becomes a tunnel: the proxy does not
 * see what the client sends through it, and that may name any tenant. Netty's upgrade handler also answers 413 to every
 * request with a body and an {@code Upgrade} field, whatever its value; Java's own client sends one with every request.
 *
 * <p>This handler is placed between the codec and the upgrade handler. The first message shows the protocol of the
 * connection: after a preface Netty removes its upgrade handler itself, and before an HTTP/1.1 request this handler removes it.
 */
public final class NoUpgradeToHttp2 extends ChannelInboundHandlerAdapter {

    private NoUpgradeToHttp2() {}

    /** Removes the upgrade from all connections of the server. */
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
