package io.fairgate.spring.exchange;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.AttributeKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.netty.Connection;

/** The connection of the client of an exchange, or its stream over HTTP/2. */
public final class ClientConnection {

    private static final AttributeKey<InetSocketAddress> PEER = AttributeKey.valueOf(ClientConnection.class, "peer");

    private ClientConnection() {}

    /** The client's connection; null when the request is not served by Reactor Netty. */
    public static @Nullable Connection of(ServerWebExchange exchange) {
        Object request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
        return request instanceof Connection connection ? connection : null;
    }

    /**
     * The same work, on the event loop of the client's connection. A response in one piece must be written there: Reactor Netty (1.3.8) ends
     * a request on the thread that notices that all was sent, and beside the event loop, it may then never read the next request.
     */
    public static Mono<Void> onLoop(ServerWebExchange exchange, Mono<Void> writing) {
        Connection connection = of(exchange);
        EventLoop loop = connection == null ? null : loop(connection.channel());
        if (loop == null) {
            return writing;
        }
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Void> writer) {
                if (loop.inEventLoop()) {
                    writing.subscribe(writer);
                } else {
                    try {
                        loop.execute(() -> writing.subscribe(writer));
                    } catch (RejectedExecutionException shutDown) {
                        Operators.error(writer, shutDown);
                    }
                }
            }
        };
    }

    /** Whether a request has come over HTTP/2, as one stream of a connection. */
    public static boolean isStream(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        return connection != null && connection.channel() instanceof Http2StreamChannel;
    }

    /** Null when the channel has none. */
    private static @Nullable EventLoop loop(Channel channel) {
        try {
            return channel.eventLoop();
        } catch (IllegalStateException closed) {
            return null;
        }
    }

    /** Whether the client's connection, or its stream, has ended; false when the request is not served by Reactor Netty. */
    public static boolean isClosed(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        return connection != null && !connection.channel().isActive();
    }

    /** Closes the client's connection, unless the request is not served by Reactor Netty. What was sent before still reaches the client. */
    public static void close(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        if (connection != null) {
            var unused = connection.channel().close();
        }
    }

    /**
     * Closes the connection of a client that takes nothing with a reset, or over HTTP/2 resets its stream. Otherwise the operating
     * system keeps megabytes for the client, for minutes (as nginx's {@code reset_timedout_connection} says).
     */
    public static void reset(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        if (connection != null) {
            try {
                connection.channel().config().setOption(ChannelOption.SO_LINGER, 0); // Does nothing to a stream.
            } catch (ChannelException closed) {
                // Nothing is kept then.
            }
            close(exchange);
        }
    }

    /** Whether something was written to this channel that its connection has not sent yet. */
    public static boolean hasUnsent(Channel channel) {
        return channel.isActive()
                && channel.bytesBeforeUnwritable() <= channel.config().getWriteBufferHighWaterMark();
    }

    /**
     * The address at the other end of the connection, which may be a proxy's. Not the request's own remote address: Boot takes that from
     * {@code X-Forwarded-For}, in Kubernetes without being configured to, and any client can write that header.
     */
    public static @Nullable InetAddress peer(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        SocketAddress address =
                connection == null ? exchange.getRequest().getRemoteAddress() : remoteAddress(connection.channel());
        return address instanceof InetSocketAddress peer ? peer.getAddress() : null;
    }

    private static SocketAddress remoteAddress(Channel channel) {
        Channel parent = channel.parent();
        // A stream of HTTP/2 is a channel below the one of its connection.
        SocketAddress named = parent instanceof SocketChannel ? named(parent) : named(channel);
        return named == null ? channel.remoteAddress() : named;
    }

    private static @Nullable SocketAddress named(Channel connection) {
        return connection.hasAttr(PEER) ? connection.attr(PEER).get() : null;
    }

    /** Whether a load balancer has named the client of this connection in the PROXY protocol. */
    public static boolean isPeerNamed(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        if (connection == null) {
            return false;
        }
        Channel channel = connection.channel();
        return named(channel.parent() instanceof SocketChannel socket ? socket : channel) != null;
    }

    /** Has a connection count as one from this address, which a load balancer has named in place of its own. */
    public static void setPeer(Channel connection, InetSocketAddress address) {
        connection.attr(PEER).set(address);
    }

    /** The event loop of the client's connection; null when the request is not served by Reactor Netty. */
    public static @Nullable Executor eventLoop(ServerWebExchange exchange) {
        Connection connection = of(exchange);
        return connection == null ? null : connection.channel().eventLoop();
    }
}
