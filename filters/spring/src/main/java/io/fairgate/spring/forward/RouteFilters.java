package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.RouteRules.RuleFilter;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.RouteToRequestUrlFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The filters of a route that is forwarded directly: some of Spring Cloud Gateway's, which change the method, the path,
 * the query or headers. They run as in the gateway's own chain: each around the next, the last one around the exchange
 * with the upstream, which completes with the headers of the response, before any of it is sent to the client.
 *
 * @param filters in the order in which they run
 */
record RouteFilters(List<GatewayFilter> filters) {

    static final Set<String> FACTORIES = Stream.of(
                    "AddRequestHeader",
                    "AddRequestHeadersIfNotPresent",
                    "AddRequestParameter",
                    "AddResponseHeader",
                    "DedupeResponseHeader",
                    "MapRequestHeader",
                    "PrefixPath",
                    "PreserveHostHeader",
                    "RedirectTo",
                    "RemoveRequestHeader",
                    "RemoveRequestParameter",
                    "RemoveResponseHeader",
                    "RequestHeaderSize",
                    "RequestSize",
                    "RewriteLocationResponseHeader",
                    "RewritePath",
                    "RewriteRequestParameter",
                    "RewriteResponseHeader",
                    "SecureHeaders",
                    "SetPath",
                    "SetRequestHeader",
                    "SetRequestHostHeader",
                    "SetResponseHeader",
                    "SetStatus",
                    "StripPrefix")
            .map(name -> "org.springframework.cloud.gateway.filter.factory." + name + "GatewayFilterFactory")
            .collect(Collectors.toUnmodifiableSet());

    /** The filters among those of a route that do something when they run. */
    static RouteFilters of(List<GatewayFilter> all) {
        return new RouteFilters(all.stream()
                .filter(filter -> !(inner(filter) instanceof RuleFilter))
                .sorted(Comparator.comparingInt(RouteFilters::order))
                .toList());
    }

    /** Whether a filter may stand on a route that is forwarded directly. */
    static boolean isKnown(GatewayFilter filter) {
        GatewayFilter inner = inner(filter);
        if (inner instanceof RuleFilter) {
            return true;
        }
        Class<?> factory = inner.getClass().getEnclosingClass();
        // Outside of these orders it would run before the admission, or see the response or the upstream's address.
        return factory != null
                && FACTORIES.contains(factory.getName())
                && order(filter) > NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER
                && order(filter) < RouteToRequestUrlFilter.ROUTE_TO_URL_FILTER_ORDER;
    }

    /** The name of a filter for an operator: that of its factory, if a factory has made it. */
    static String name(GatewayFilter filter) {
        Class<?> type = inner(filter).getClass();
        Class<?> factory = type.getEnclosingClass();
        String name = (factory == null ? type : factory).getSimpleName();
        return name.isEmpty() ? type.getName() : name.replaceFirst("GatewayFilterFactory$", "");
    }

    private static GatewayFilter inner(GatewayFilter filter) {
        return filter instanceof OrderedGatewayFilter ordered ? ordered.getDelegate() : filter;
    }

    private static int order(GatewayFilter filter) {
        return filter instanceof Ordered ordered ? ordered.getOrder() : Ordered.LOWEST_PRECEDENCE;
    }

    /** Runs the filters around the exchange with the upstream. */
    Mono<Void> around(ServerWebExchange exchange, GatewayFilterChain upstream) {
        return filters.isEmpty() ? upstream.filter(exchange) : from(0, upstream).filter(exchange);
    }

    private GatewayFilterChain from(int index, GatewayFilterChain upstream) {
        return index == filters.size()
                ? upstream
                : exchange -> filters.get(index).filter(exchange, from(index + 1, upstream));
    }
}
