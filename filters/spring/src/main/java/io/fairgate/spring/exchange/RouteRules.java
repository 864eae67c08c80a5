package io.fairgate.spring.exchange;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import java.util.ArrayList;
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
 * @param all in the order of the filters
 */
public record RouteRules(List<RouteRule> all) {

    private static final RouteRules NONE = new RouteRules(List.of());

    /** The rules of the request's route. A request that is forwarded internally takes another route. */
    public static RouteRules of(ServerWebExchange exchange) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        return route == null ? NONE : of(route);
    }

    /** The rules of a route. */
    public static RouteRules of(Route route) {
        List<GatewayFilter> filters = route.getFilters();
        List<RouteRule> rules = new ArrayList<>(filters.size());
        for (int i = 0; i < filters.size(); i++) {
            GatewayFilter filter =
                    filters.get(i) instanceof OrderedGatewayFilter ordered ? ordered.getDelegate() : filters.get(i);
            if (filter instanceof RuleFilter rule) {
                rules.add(rule.rule());
            }
        }
        return new RouteRules(rules);
    }

    /** The last rule of a kind; null when the route has no rule of that kind. */
    public <R extends RouteRule> @Nullable R last(Class<R> kind) {
        R last = null;
        for (int i = 0; i < all.size(); i++) {
            RouteRule rule = all.get(i);
            last = kind.isInstance(rule) ? kind.cast(rule) : last;
        }
        return last;
    }

    /** The request without the parts that only the rules may read. */
    public ServerWebExchange strip(ServerWebExchange exchange) {
        ServerWebExchange stripped = exchange;
        for (int i = 0; i < all.size(); i++) {
            stripped = all.get(i).strip(stripped);
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
