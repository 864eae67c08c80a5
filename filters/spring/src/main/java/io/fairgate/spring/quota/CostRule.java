package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.RouteRule;
import io.fairgate.spring.exchange.RouteRules;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/**
 * The arguments of {@code Cost=UNITS} on a route.
 *
 * @param units the units by method and path
 * @param header the header with which trusted peers give the cost; null when there is none
 * @param response how the response gives the cost; null when it does not
 */
record CostRule(
        CostRules units,
        @Nullable ToldCost header,
        @Nullable ResponseCost response) implements RouteRule {

    /** What the request takes of its quotas; one unit when its route has no rule for it. */
    static RequestCost cost(ServerWebExchange exchange, RouteRules rules) {
        CostRule rule = rules.last(CostRule.class);
        return rule == null ? RequestCost.ONE : rule.cost(exchange);
    }

    private RequestCost cost(ServerWebExchange exchange) {
        Long told = header == null ? null : header.units(exchange);
        return new RequestCost(told == null ? units.units(exchange.getRequest()) : told, response);
    }

    /** The request without the header that gives its cost, whichever peer sent it. */
    @Override
    public ServerWebExchange strip(ServerWebExchange exchange) {
        return header == null ? exchange : header.without(exchange);
    }
}
