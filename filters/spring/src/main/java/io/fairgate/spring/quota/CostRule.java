package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.exchange.RouteRule;

import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/**
 * {@code Cost=UNITS} of a route.
 *
 * @param units by method and path
 * @param header the header with which trusted peers tell the cost; null when there is none
 * @param response how the response tells the cost; null when it does not
 */
record CostRule(
        CostRules units,
        @Nullable ToldCost header,
        @Nullable ResponseCost response) implements RouteRule {

    /** What the request takes of its quotas; one unit when its route does not say. */
    static RequestCost cost(ServerWebExchange exchange, RouteRules rules) {
        CostRule rule = rules.last(CostRule.class);
        return rule == null ? RequestCost.ONE : rule.cost(exchange);
    }

    private RequestCost cost(ServerWebExchange exchange) {
        Long told = header == null ? null : header.units(exchange);
        return new RequestCost(told == null ? units.units(exchange.getRequest()) : told, response);
    }

    /** The request without the header that tells its cost, whoever sent it. */
    @Override
    public ServerWebExchange strip(ServerWebExchange exchange) {
        return header == null ? exchange : header.without(exchange);
    }
}
