package io.fairgate.spring.admission;

import io.fairgate.spring.refusal.RefusalMeters;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Refuses {@code CONNECT} with 405, before a route is chosen. Spring Cloud Gateway forwards it like any other method.
 * When the upstream answers with 2xx, both ends of the connection treat it as a tunnel, and the next request that the
 * connection pool sends on it is never answered.
 */
final class ConnectFilter implements WebFilter, Ordered {

    private static final HttpMethod CONNECT = HttpMethod.valueOf("CONNECT");

    private final RefusalMeters refusals;

    ConnectFilter(RefusalMeters refusals) {
        this.refusals = refusals;
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (!CONNECT.equals(exchange.getRequest().getMethod())) {
            return chain.filter(exchange);
        }
        return Mono.defer(() -> {
            refusals.refused(null, ConnectRefusedException.REASON, true);
            return Mono.error(new ConnectRefusedException());
        });
    }
}
