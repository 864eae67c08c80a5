package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.RouteRule;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/**
 * The arguments of {@code Cost=UNITS} on a route.
 *
 * @param units the units by method and path
 * @param header the header with which trusted clients give the cost; null for a rule without a header
 * @param response how the response gives the cost; null when it does not
 */
record CostRule(
        CostRules units,
        @Nullable CostHeader header,
        @Nullable ResponseCost response) implements RouteRule {

    /** The charge at the start. At least 1 if the response gives the cost: a charge of 0 cannot be corrected. */
    long units(ServerWebExchange exchange) {
        Long inHeader = header == null ? null : header.units(exchange);
        long before = inHeader == null ? units.units(exchange.getRequest()) : inHeader;
        return response == null ? before : Math.max(1, before);
    }

    /** The request without the header that gives its cost, whichever client sent it. */
    @Override
    public ServerWebExchange strip(ServerWebExchange exchange) {
        return header == null ? exchange : header.without(exchange);
    }
}
