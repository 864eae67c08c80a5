package io.fairgate.spring.exchange;

import io.fairgate.policy.TenantPolicy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/** The attributes that the steps of the admission set on an exchange, and the connection of the exchange. */
public final class Exchanges {

    private static final String ADMITTED = Exchanges.class.getName() + ".admitted";
    private static final String TENANT = Exchanges.class.getName() + ".tenant";
    private static final String POOL = Exchanges.class.getName() + ".pool";
    private static final String WAITED = Exchanges.class.getName() + ".waited";

    private Exchanges() {}

    public static void setAdmitted(ServerWebExchange exchange) {
        exchange.getAttributes().put(ADMITTED, true);
    }

    /** Whether the admission has begun for the request, which means that it takes a route of the gateway. */
    public static boolean isAdmitted(ServerWebExchange exchange) {
        return exchange.getAttribute(ADMITTED) != null;
    }

    public static void setTenant(ServerWebExchange exchange, TenantPolicy tenant) {
        exchange.getAttributes().put(TENANT, tenant);
    }

    /** The tenant of the request; null when it has none, or has not been identified yet. */
    public static @Nullable TenantPolicy tenant(ServerWebExchange exchange) {
        return exchange.getAttribute(TENANT);
    }

    public static void setPool(ServerWebExchange exchange, String pool) {
        exchange.getAttributes().put(POOL, pool);
    }

    /** The pool of which a permit is held, or was held, for this exchange; null when there is none. */
    public static @Nullable String pool(ServerWebExchange exchange) {
        return exchange.getAttribute(POOL);
    }

    public static void setWaited(ServerWebExchange exchange, long waitedNanos) {
        exchange.getAttributes().put(WAITED, waitedNanos);
    }

    /** How long the request waited for permits, in nanoseconds; null when it was granted none. */
    public static @Nullable Long waited(ServerWebExchange exchange) {
        return exchange.getAttribute(WAITED);
    }

    /** The client's connection; null when the request is not served by Reactor Netty. */
    public static @Nullable Connection connection(ServerWebExchange exchange) {
        Object request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
        return request instanceof Connection connection ? connection : null;
    }

    /** Closes the client's connection, unless the request is not served by Reactor Netty. */
    public static void close(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        if (connection != null) {
            var unused = connection.channel().close();
        }
    }

    /**
     * The address at the other end of the client's connection. Not the request's own remote address: Boot takes that from
     * {@code X-Forwarded-For}, in Kubernetes without being configured to, and any client can write that header.
     */
    public static @Nullable InetAddress peer(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        SocketAddress address = connection == null
                ? exchange.getRequest().getRemoteAddress()
                : connection.channel().remoteAddress();
        return address instanceof InetSocketAddress peer ? peer.getAddress() : null;
    }

    /** The event loop of the client's connection; null when the request is not served by Reactor Netty. */
    public static @Nullable Executor eventLoop(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        return connection == null ? null : connection.channel().eventLoop();
    }
}
