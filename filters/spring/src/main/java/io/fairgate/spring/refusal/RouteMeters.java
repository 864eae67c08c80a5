package io.fairgate.spring.refusal;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import org.springframework.web.server.ServerWebExchange;

/** Counts requests by route, from all tenants together. */
public interface RouteMeters {

    /** A request has come. */
    void received(ServerWebExchange exchange);

    /** The upstream has answered a request; once for each attempt. */
    void responded(ServerWebExchange exchange, int status);

    /** A request was refused, or would have been, or has failed. */
    void decided(Decision decision);
}
