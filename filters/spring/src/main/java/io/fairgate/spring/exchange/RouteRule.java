package io.fairgate.spring.exchange;

import org.springframework.web.server.ServerWebExchange;

/** What a filter of a route says about the admission of its requests. */
public interface RouteRule {

    /** The request without what only the rule is to read of it. */
    default ServerWebExchange strip(ServerWebExchange exchange) {
        return exchange;
    }
}
