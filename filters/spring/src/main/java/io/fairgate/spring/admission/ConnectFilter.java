package io.fairgate.spring.admission;

import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import java.util.List;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Refuses {@code CONNECT} with 405, before a route is chosen. Spring Cloud Gateway would forward it, and a 2xx make a
 * tunnel of the connection to the upstream: the next request that the pool sends on it would never be answered.
 */
record ConnectFilter(RefusalMeters refusals) implements WebFilter, Ordered {

    private static final HttpMethod CONNECT = HttpMethod.valueOf("CONNECT");
    private static final Refusal REFUSAL = new Refusal(
            HttpStatus.METHOD_NOT_ALLOWED, "connect", "The gateway opens no tunnels.", List.of(), null, headers());

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
            refusals.refused(null, REFUSAL.reason(), true);
            return Mono.error(new NotAdmittedException(REFUSAL));
        });
    }

    /** Spring asks for it with each request, and that of a record is made of the texts of its components. */
    @Override
    public String toString() {
        return "ConnectFilter";
    }

    /** Over HTTP/1.1 the connection is closed: what follows may have been meant for the tunnel. */
    private static HttpHeaders headers() {
        HttpHeaders headers = new HttpHeaders();
        headers.set(HttpHeaders.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.set(HttpHeaders.CONNECTION, "close");
        return HttpHeaders.readOnlyHttpHeaders(headers);
    }
}
