package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.DecisionLog.Decision;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/** What the steps of the admission note on the exchange, and the connection below it. */
public final class Exchanges {

    private static final String IDENTITY = Exchanges.class.getName() + ".identity";
    private static final String POOL = Exchanges.class.getName() + ".pool";
    private static final String WAITED = Exchanges.class.getName() + ".waited";
    private static final String DECISIONS = Exchanges.class.getName() + ".decisions";
    private static final String RESPONSE_HEADERS = Exchanges.class.getName() + ".responseHeaders";

    private Exchanges() {}

    static void setIdentity(ServerWebExchange exchange, Identity identity) {
        exchange.getAttributes().put(IDENTITY, identity);
    }

    /** The tenant of the request, or why it has none; null when it has not been identified yet. */
    static @Nullable Identity identity(ServerWebExchange exchange) {
        return exchange.getAttribute(IDENTITY);
    }

    /** The tenant of the request; null when it has none, or has not been identified yet. */
    public static @Nullable TenantPolicy tenant(ServerWebExchange exchange) {
        return identity(exchange) instanceof Identity.Known known ? known.tenant() : null;
    }

    static void setPool(ServerWebExchange exchange, String pool) {
        exchange.getAttributes().put(POOL, pool);
    }

    /** The pool of which a permit is held, or was held, for this exchange; null when there is none. */
    static @Nullable String pool(ServerWebExchange exchange) {
        return exchange.getAttribute(POOL);
    }

    static void setWaited(ServerWebExchange exchange, long waitedNanos) {
        exchange.getAttributes().put(WAITED, waitedNanos);
    }

    /** How long the request waited for permits, in nanoseconds; null when it has none. */
    static @Nullable Long waited(ServerWebExchange exchange) {
        return exchange.getAttribute(WAITED);
    }

    /** The refusals and failures of the request so far, enforced or not. Thread-safe; decisions can be added. */
    @SuppressWarnings("unchecked")
    static List<Decision> decisions(ServerWebExchange exchange) {
        return (List<Decision>)
                exchange.getAttributes().computeIfAbsent(DECISIONS, none -> new CopyOnWriteArrayList<Decision>());
    }

    /** Keeps the headers of the response as they are before a route adds to them. */
    static void keepResponseHeaders(ServerWebExchange exchange) {
        exchange.getAttributes()
                .put(RESPONSE_HEADERS, HttpHeaders.copyOf(exchange.getResponse().getHeaders()));
    }

    /** Takes back what a route, or its upstream, has added to the headers of a response that is replaced by a refusal. */
    static void restoreResponseHeaders(ServerWebExchange exchange) {
        HttpHeaders own = exchange.getAttribute(RESPONSE_HEADERS);
        if (own != null) {
            HttpHeaders fields = exchange.getResponse().getHeaders();
            fields.clear();
            fields.putAll(own);
        }
    }

    /** The client's connection, or null when this is not served by Reactor Netty. */
    static @Nullable Connection connection(ServerWebExchange exchange) {
        Object request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
        return request instanceof Connection connection ? connection : null;
    }

    /**
     * The address at the other end of the client's connection. Not the request's own remote address: Boot takes that from
     * {@code X-Forwarded-For}, in Kubernetes without being configured to, and any client can write that header.
     */
    static @Nullable InetAddress peer(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        SocketAddress address = connection == null
                ? exchange.getRequest().getRemoteAddress()
                : connection.channel().remoteAddress();
        return address instanceof InetSocketAddress peer ? peer.getAddress() : null;
    }

    /** The event loop of the client's connection, on which the request is processed; null when this is not served by Reactor Netty. */
    static @Nullable Executor eventLoop(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        return connection == null ? null : connection.channel().eventLoop();
    }
}
