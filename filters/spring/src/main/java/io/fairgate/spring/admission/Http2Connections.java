package io.fairgate.spring.admission;

import io.fairgate.spring.exchange.ClientConnection;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/**
 * The HTTP/2 connections on which requests have come, so that a shutdown can send GOAWAY on them: Reactor Netty sends
 * it only when it closes a connection. GOAWAY names the last stream that is served. After it, a client opens no new
 * stream on the connection, and sends later streams that were already on their way again elsewhere. A first GOAWAY may name the
 * highest possible stream, so that those on their way are served (RFC 9113, 6.8).
 */
final class Http2Connections {

    private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** Remembers the connection of this exchange until it is closed. */
    void add(ServerWebExchange exchange) {
        Channel connection = of(exchange);
        if (connection != null) {
            open.add(connection);
        }
    }

    /** Tells the clients to open no new streams here. Those that are already on their way are served. */
    void announceEnd() {
        open.forEach(Http2Connections::announceEnd);
    }

    /** Tells it to the client of this exchange. */
    void announceEnd(ServerWebExchange exchange) {
        Channel connection = of(exchange);
        if (connection != null) {
            announceEnd(connection);
        }
    }

    void goAway() {
        open.forEach(Http2Connections::goAway);
    }

    /** Sends GOAWAY on the connection of this exchange, which is still served. */
    static void goAway(ServerWebExchange exchange) {
        Channel connection = of(exchange);
        if (connection != null) {
            goAway(connection);
        }
    }

    private static void announceEnd(Channel connection) {
        goAway(connection, Integer.MAX_VALUE);
    }

    private static void goAway(Channel connection) {
        goAway(connection, 0);
    }

    /** @param moreStreams how many streams are served beside those that are open */
    private static void goAway(Channel connection, int moreStreams) {
        connection.eventLoop().execute(() -> {
            Http2FrameCodec codec = connection.pipeline().get(Http2FrameCodec.class);
            if (codec != null && !hasSaid(codec.connection(), moreStreams)) {
                var unused = connection.writeAndFlush(
                        new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR).setExtraStreamIds(moreStreams));
            }
        });
    }

    /** Whether a GOAWAY has been sent that said as much. */
    private static boolean hasSaid(Http2Connection connection, int moreStreams) {
        return connection.goAwaySent()
                && (moreStreams > 0 || connection.remote().lastStreamKnownByPeer() < Integer.MAX_VALUE);
    }

    private static @Nullable Channel of(ServerWebExchange exchange) {
        Connection stream = ClientConnection.of(exchange);
        Channel connection = stream == null ? null : stream.channel().parent();
        return connection != null && connection.pipeline().get(Http2FrameCodec.class) != null ? connection : null;
    }
}
