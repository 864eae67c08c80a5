package io.fairgate.spring.exchange;

import io.fairgate.policy.TenantPolicy;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.AbstractServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerResponse;

/** What the steps of the admission note on an exchange. */
public final class Exchanges {

    private static final String NOTES = Exchanges.class.getName();

    /** One attribute for all notes, because a map takes more memory for each. */
    private static final class Notes {
        volatile boolean isAdmitted;
        volatile @Nullable TenantPolicy tenant;
        volatile @Nullable String pool;
        volatile @Nullable String requestClass;
        volatile @Nullable Long waited;
        volatile long waitEndedNanos;
        volatile @Nullable String waitId;
        volatile @Nullable Consumer<HttpHeaders> fields;
        volatile boolean areFieldsAdded;
        volatile boolean areFieldsAddedOnCommit;
        volatile @Nullable HttpHeaders headersBeforeRoute;
        volatile boolean isAnswered;
        volatile boolean paced;
        volatile @Nullable OriginalRequest original;
        volatile List<Object> instances = List.of();
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

    /** Notes the pool of the route, and the class of its requests. */
    public static void setPool(ServerWebExchange exchange, String pool, @Nullable String requestClass) {
        Notes notes = notes(exchange);
        notes.requestClass = requestClass;
        notes.pool = pool;
    }

    /** The class of the route's requests; null when it has none, or no pool. */
    public static @Nullable String requestClass(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.requestClass;
    }

    /** The pool of the route, as soon as the tenant is known; null when it has none. */
    public static @Nullable String pool(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.pool;
    }

    /** Notes that the request is sent to this instance of its upstream, after those before. Not for concurrent use. */
    public static void addInstance(ServerWebExchange exchange, Object instance) {
        Notes notes = notes(exchange);
        List<Object> instances = new ArrayList<>(notes.instances);
        instances.add(instance);
        notes.instances = List.copyOf(instances);
    }

    /** The instances of its upstream that the request was sent to, in their order; none if its upstream has no instances. */
    public static List<Object> instances(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? List.of() : known.instances;
    }

    /** Notes that the client of this exchange must send its body at a certain pace. */
    public static void setPaced(ServerWebExchange exchange) {
        notes(exchange).paced = true;
    }

    public static boolean isPaced(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known != null && known.paced;
    }

    /** The request before the proxies passed it on; null when that has not been determined yet. */
    public static @Nullable OriginalRequest original(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.original;
    }

    public static void setOriginal(ServerWebExchange exchange, OriginalRequest original) {
        notes(exchange).original = original;
    }

    public static void setWaited(ServerWebExchange exchange, long waitedNanos) {
        Notes notes = notes(exchange);
        notes.waitEndedNanos = System.nanoTime();
        notes.waited = waitedNanos;
    }

    /** Notes the id under which the wait can be looked up. */
    public static void setWaitId(ServerWebExchange exchange, String id) {
        notes(exchange).waitId = id;
    }

    /** The id under which the wait can be looked up; null when it cannot. */
    public static @Nullable String waitId(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.waitId;
    }

    /** When {@link #waited} ended, on the clock of {@link System#nanoTime}; only when it is not null. */
    public static long waitEndedNanos(ServerWebExchange exchange) {
        return notes(exchange).waitEndedNanos;
    }

    /** How long the request waited for permits, in nanoseconds; null when it was granted none. */
    public static @Nullable Long waited(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known == null ? null : known.waited;
    }

    /**
     * Notes a change of the headers of the response, after the changes that were noted earlier. What writes the response
     * makes all of them with {@link #addFields}; for a writer that does not know of them there is
     * {@link #addFieldsOnCommit}. Not for concurrent use.
     */
    public static void noteFields(ServerWebExchange exchange, Consumer<HttpHeaders> change) {
        Notes notes = notes(exchange);
        Consumer<HttpHeaders> earlier = notes.fields;
        notes.fields = earlier == null ? change : earlier.andThen(change);
    }

    /** Makes the noted changes of the headers, unless they have been made. */
    public static void addFields(ServerWebExchange exchange) {
        Notes notes = known(exchange);
        if (notes != null) {
            addFields(notes, exchange.getResponse());
        }
    }

    private static void addFields(Notes notes, ServerHttpResponse response) {
        Consumer<HttpHeaders> fields = notes.fields;
        if (fields != null && !notes.areFieldsAdded) {
            notes.areFieldsAdded = true;
            fields.accept(response.getHeaders());
        }
    }

    /**
     * Makes the noted changes, also those that are noted later, when Spring commits the response. An action of the response
     * takes twelve objects and a queue, so this is only for writers that do not call {@link #addFields}.
     */
    public static void addFieldsOnCommit(ServerWebExchange exchange) {
        Notes notes = notes(exchange);
        if (!notes.areFieldsAddedOnCommit) {
            notes.areFieldsAddedOnCommit = true;
            ServerHttpResponse response = exchange.getResponse();
            response.beforeCommit(() -> {
                addFields(notes, response);
                return Mono.empty();
            });
        }
    }

    /** Keeps the headers of the response as they are before a route adds to them. */
    public static void keepResponseHeaders(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getResponse().getHeaders();
        notes(exchange).headersBeforeRoute =
                hasOnlyTheDefault(exchange) || headers.isEmpty() ? HttpHeaders.EMPTY : HttpHeaders.copyOf(headers);
    }

    /** Removes what a route, or its upstream, has added to the headers of the response. */
    public static void restoreResponseHeaders(ServerWebExchange exchange) {
        Notes notes = known(exchange);
        HttpHeaders kept = notes == null ? null : notes.headersBeforeRoute;
        if (kept != null && !(kept.isEmpty() && hasOnlyTheDefault(exchange))) {
            HttpHeaders headers = exchange.getResponse().getHeaders();
            headers.clear();
            headers.putAll(kept);
            notes.areFieldsAdded = false;
        }
    }

    /** Whether the headers are those with which Reactor Netty begins each response; it replaces this one if need be. */
    private static boolean hasOnlyTheDefault(ServerWebExchange exchange) {
        HttpServerResponse netty = nettyResponse(exchange);
        return netty != null
                && netty.responseHeaders().size() == 1
                && netty.responseHeaders().contains(HttpHeaderNames.TRANSFER_ENCODING);
    }

    /** The response of Reactor Netty, if nothing decorates it; otherwise null. */
    public static @Nullable HttpServerResponse nettyResponse(ServerWebExchange exchange) {
        return ClientConnection.of(exchange) != null
                        && exchange.getResponse() instanceof AbstractServerHttpResponse plain
                        && plain.getNativeResponse() instanceof HttpServerResponse netty
                ? netty
                : null;
    }

    public static void setAnswered(ServerWebExchange exchange) {
        notes(exchange).isAnswered = true;
    }

    /** Whether the gateway itself has begun to answer the request. */
    public static boolean isAnswered(ServerWebExchange exchange) {
        Notes known = known(exchange);
        return known != null && known.isAnswered;
    }
}
