package io.fairgate.spring.exchange;

import org.springframework.web.server.ServerWebExchange;

/** A setting of a route that the admission reads, such as {@code FairShare=orders}. */
public interface RouteRule {

    /** The request without the parts that only this rule may read. */
    default ServerWebExchange strip(ServerWebExchange exchange) {
        return exchange;
    }
}
