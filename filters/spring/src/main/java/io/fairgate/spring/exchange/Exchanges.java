package io.fairgate.spring.exchange;

import io.fairgate.policy.TenantPolicy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/** What the steps of the admission note on an exchange, and the connection of the exchange. */
public final class Exchanges {

    private static final String NOTES = Exchanges.class.getName();

    /** One attribute for all notes, because a map takes more memory for each. */
    private static final class Notes {
        volatile boolean isAdmitted;
        volatile @Nullable TenantPolicy tenant;
        volatile @Nullable String pool;
        volatile @Nullable Long waited;
        volatile @Nullable Consumer<HttpHeaders> fields;
        volatile boolean areFieldsForwarded;
        volatile boolean areFieldsWritten;
    }

    private Exchanges() {}

    private static @Nullable Notes known(ServerWebExchange exchange) {
        return exchange.getAttribute(NOTES);
    }

    private static Notes notes(ServerWebExchange exchange) {
        Notes known = known(exchange);
        if (known != null) {
            return known;
        }
        Notes made = new Notes();
        Notes other = (Notes) exchange.getAttributes().putIfAbsent(NOTES, made);
        return other == null ? made : other;
    }

    public static void setAdmitted(ServerWebExchange exchange) {
        notes(exchange).isAdmitted = true;
    }

    /** Whether the admission has begun for the request, which means that it takes a route of the gateway. */
    public static boolean isAdmitted(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known != null && known.isAdmitted;
    }

    public static void setTenant(ServerWebExchange exchange, TenantPolicy tenant) {
        notes(exchange).tenant = tenant;
    }

    /** The tenant of the request; null when it has none, or has not been identified yet. */
    public static @Nullable TenantPolicy tenant(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.tenant;
    }

    public static void setPool(ServerWebExchange exchange, String pool) {
        notes(exchange).pool = pool;
    }

    /** The pool of which a permit is held, or was held, for this exchange; null when there is none. */
    public static @Nullable String pool(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.pool;
    }

    public static void setWaited(ServerWebExchange exchange, long waitedNanos) {
        notes(exchange).waited = waitedNanos;
    }

    /** How long the request waited for permits, in nanoseconds; null when it was granted none. */
    public static @Nullable Long waited(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.waited;
    }

    /**
     * Changes the headers of the response just before they are sent, after the changes that were given earlier. All of
     * them are one action of the response, because each action takes several operators. Not for concurrent use.
     */
    public static void beforeCommit(ServerWebExchange exchange, Consumer<HttpHeaders> change) {
        Notes notes = notes(exchange);
        Consumer<HttpHeaders> earlier = notes.fields;
        notes.fields = earlier == null ? change : earlier.andThen(change);
        if (earlier == null && !notes.areFieldsForwarded) {
            register(exchange, notes);
        }
    }

    private static void register(ServerWebExchange exchange, Notes notes) {
        ServerHttpResponse response = exchange.getResponse();
        response.beforeCommit(() -> {
            Objects.requireNonNull(notes.fields).accept(response.getHeaders());
            return Mono.empty();
        });
    }

    /**
     * The forward of the request makes the changes of {@link #beforeCommit} itself, when it writes the response. An action
     * of the response takes twelve objects and a queue.
     */
    public static void setFieldsForwarded(ServerWebExchange exchange) {
        notes(exchange).areFieldsForwarded = true;
    }

    /** Makes the changes of {@link #beforeCommit} now, if it is the forward that makes them. */
    public static void forwardFields(ServerWebExchange exchange) {
        Notes notes = known(exchange);
        if (notes != null && notes.areFieldsForwarded && notes.fields != null) {
            notes.areFieldsWritten = true;
            notes.fields.accept(exchange.getResponse().getHeaders());
        }
    }

    /** The forward has failed, so that it may not write the response: they are made for the answer to the failure. */
    public static void leaveFields(ServerWebExchange exchange) {
        Notes notes = known(exchange);
        if (notes != null && notes.areFieldsForwarded) {
            notes.areFieldsForwarded = false;
            if (notes.fields != null && !notes.areFieldsWritten) {
                register(exchange, notes);
            }
        }
    }

    /** The headers of the response have been removed, and those of {@link #beforeCommit} with them: they are made again. */
    public static void repeatFields(ServerWebExchange exchange) {
        Notes notes = known(exchange);
        if (notes != null && notes.areFieldsWritten) {
            notes.areFieldsWritten = false;
            register(exchange, notes);
        }
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
