package io.fairgate.spring.websocket;

import io.netty.channel.Channel;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/** The connection to an upstream that has accepted a handshake. It is an attribute of the exchange, so that it is closed with that. */
record SwitchedUpstream(Connection connection, Channel channel, AwaitedSwitch bytes) {

    private static final String ATTRIBUTE = SwitchedUpstream.class.getName();

    void keepIn(ServerWebExchange exchange) {
        closeIn(exchange); // Of an earlier attempt.
        exchange.getAttributes().put(ATTRIBUTE, this);
    }

    static @Nullable SwitchedUpstream in(ServerWebExchange exchange) {
        return exchange.getAttribute(ATTRIBUTE);
    }

    static void closeIn(ServerWebExchange exchange) {
        SwitchedUpstream kept = in(exchange);
        if (kept != null) {
            kept.close();
        }
    }

    /** On the event loop of the connection. */
    void begin(TunnelEnd end) {
        bytes.begin(end, channel);
    }

    /** On any thread. Reactor Netty disposes of a connection on its event loop only. */
    void close() {
        if (channel.eventLoop().inEventLoop()) {
            connection.dispose();
            return;
        }
        try {
            channel.eventLoop().execute(connection::dispose);
        } catch (RejectedExecutionException shutDown) {
            // Its connections are closed then.
        }
    }
}
