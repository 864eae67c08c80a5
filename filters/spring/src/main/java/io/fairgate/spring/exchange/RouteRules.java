package io.fairgate.spring.exchange;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The settings of a route that the admission reads from its filters. Of several filters of a kind the last one counts,
 * so that a route's own filter takes precedence over a default filter.
 *
 * @param route null when the request takes none
 * @param all in the order of the filters
 */
public record RouteRules(@Nullable Route route, List<RouteRule> all) {

    private static final String ATTRIBUTE = RouteRules.class.getName();

    /** The rules of the request's route, kept with the exchange. A request that is forwarded internally takes another route. */
    @SuppressWarnings("ReferenceEquality") // Another instance of the route is only searched again.
    public static RouteRules of(ServerWebExchange exchange) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        RouteRules known = exchange.getAttribute(ATTRIBUTE);
        if (known == null || known.route != route) {
            known = of(route);
            exchange.getAttributes().put(ATTRIBUTE, known);
        }
        return known;
    }

    private static RouteRules of(@Nullable Route route) {
        List<GatewayFilter> filters = route == null ? List.of() : route.getFilters();
        return new RouteRules(
                route,
                filters.stream()
                        .map(filter -> filter instanceof OrderedGatewayFilter ordered ? ordered.getDelegate() : filter)
                        .filter(RuleFilter.class::isInstance)
                        .map(filter -> ((RuleFilter) filter).rule())
                        .toList());
    }

    /** The last rule of a kind; null when the route has no rule of that kind. */
    public <R extends RouteRule> @Nullable R last(Class<R> kind) {
        R last = null;
        for (RouteRule rule : all) {
            last = kind.isInstance(rule) ? kind.cast(rule) : last;
        }
        return last;
    }

    /** The request without the parts that only the rules may read. */
    public ServerWebExchange strip(ServerWebExchange exchange) {
        ServerWebExchange stripped = exchange;
        for (RouteRule rule : all) {
            stripped = rule.strip(stripped);
        }
        return stripped;
    }

    /** The filter of a rule. It does nothing itself: the admission reads the rule from the route. */
    public record RuleFilter(RouteRule rule) implements GatewayFilter, Ordered {

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        /** Errors when another filter wraps this one: the admission cannot find the rule then. */
        @Override
        public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
            return RouteRules.of(exchange).all().contains(rule)
                    ? chain.filter(exchange)
                    : Mono.error(new IllegalStateException(
                            "%s is inside of another filter (expected: a filter of the route itself)".formatted(rule)));
        }
    }
}
