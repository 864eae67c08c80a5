package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/** What our filters leave for each other on the exchange, and what lies below it. */
public final class Exchanges {

    private static final String TENANT = Exchanges.class.getName() + ".tenant";
    private static final String PERMIT = Exchanges.class.getName() + ".permit";

    private Exchanges() {}

    static void setTenant(ServerWebExchange exchange, TenantPolicy tenant) {
        exchange.getAttributes().put(TENANT, tenant);
    }

    /** The tenant that the request belongs to; null when it has not been identified. */
    public static @Nullable TenantPolicy tenant(ServerWebExchange exchange) {
        return exchange.getAttribute(TENANT);
    }

    /** @throws IllegalStateException when the tenant filter did not run before */
    static TenantPolicy requireTenant(ServerWebExchange exchange) {
        TenantPolicy tenant = tenant(exchange);
        if (tenant == null) {
            throw new IllegalStateException(
                    "the request has no tenant: TenantFilter must run before (see FilterOrder)");
        }
        return tenant;
    }

    static void setHoldsPermit(ServerWebExchange exchange) {
        exchange.getAttributes().put(PERMIT, true);
    }

    /** Whether a permit is held for this exchange. */
    static boolean holdsPermit(ServerWebExchange exchange) {
        return exchange.getAttribute(PERMIT) != null;
    }

    /** The client's connection, or null when this is not served by Reactor Netty. */
    static @Nullable Connection connection(ServerWebExchange exchange) {
        Object request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
        return request instanceof Connection connection ? connection : null;
    }

    /**
     * Who is at the other end of the client's connection. Not the request's own remote address: Boot puts there what
     * {@code X-Forwarded-For} says, in Kubernetes without being asked, and that field anybody can write.
     */
    static @Nullable InetAddress peer(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        SocketAddress address = connection == null
                ? exchange.getRequest().getRemoteAddress()
                : connection.channel().remoteAddress();
        return address instanceof InetSocketAddress peer ? peer.getAddress() : null;
    }

    /** The event loop that serves the client's connection: the home of everything that is done for the request. */
    static @Nullable Executor home(ServerWebExchange exchange) {
        Connection connection = connection(exchange);
        return connection == null ? null : connection.channel().eventLoop();
    }
}
