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

/** What our filters leave for each other on the exchange, and what lies below it. */
public final class Exchanges {

    private static final String IDENTITY = Exchanges.class.getName() + ".identity";
    private static final String COST = Exchanges.class.getName() + ".cost";
    private static final String QUOTAS = Exchanges.class.getName() + ".quotas";
    private static final String POOL = Exchanges.class.getName() + ".pool";
    private static final String WAITED = Exchanges.class.getName() + ".waited";
    private static final String DECISIONS = Exchanges.class.getName() + ".decisions";
    private static final String OWN_FIELDS = Exchanges.class.getName() + ".ownFields";

    private Exchanges() {}

    static void setIdentity(ServerWebExchange exchange, Identity identity) {
        exchange.getAttributes().put(IDENTITY, identity);
    }

    /** Who the request belongs to; null when nobody has asked yet. */
    static @Nullable Identity identity(ServerWebExchange exchange) {
        return exchange.getAttribute(IDENTITY);
    }

    /** The tenant that the request belongs to; null when it has not been identified, or is nobody's. */
    public static @Nullable TenantPolicy tenant(ServerWebExchange exchange) {
        return identity(exchange) instanceof Identity.Known known ? known.tenant() : null;
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

    static void setCost(ServerWebExchange exchange, RequestCost cost) {
        exchange.getAttributes().put(COST, cost);
    }

    /** What the route says that the request takes of its quotas, or one unit. */
    static RequestCost cost(ServerWebExchange exchange) {
        return exchange.getAttributeOrDefault(COST, RequestCost.ONE);
    }

    static void setQuotas(ServerWebExchange exchange, RequestQuotas quotas) {
        exchange.getAttributes().put(QUOTAS, quotas);
    }

    /** The quotas that apply to the request; null when that has not been worked out yet. */
    static @Nullable RequestQuotas quotas(ServerWebExchange exchange) {
        return exchange.getAttribute(QUOTAS);
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

    static void addDecision(ServerWebExchange exchange, Decision decision) {
        List<Decision> all = exchange.getAttribute(DECISIONS);
        if (all == null) {
            all = new CopyOnWriteArrayList<>();
            exchange.getAttributes().put(DECISIONS, all);
        }
        all.add(decision);
    }

    /** What was decided against the request so far, also what was not enforced. */
    static List<Decision> decisions(ServerWebExchange exchange) {
        return exchange.getAttributeOrDefault(DECISIONS, List.of());
    }

    /** Notes the fields of the answer as they are before a route adds to them. */
    static void noteOwnFields(ServerWebExchange exchange) {
        exchange.getAttributes()
                .put(OWN_FIELDS, HttpHeaders.copyOf(exchange.getResponse().getHeaders()));
    }

    /** Takes back what a route, or its upstream, has added to the fields of an answer that is not to be given. */
    static void restoreOwnFields(ServerWebExchange exchange) {
        HttpHeaders own = exchange.getAttribute(OWN_FIELDS);
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
