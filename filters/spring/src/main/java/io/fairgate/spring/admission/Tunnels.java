package io.fairgate.spring.admission;

import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;

/**
 * Refuses {@code CONNECT} with 405. Spring Cloud Gateway would forward it, and a 2xx make a tunnel of the connection to
 * the upstream: the next request that the pool sends on it would never be answered.
 */
record Tunnels(RefusalMeters refusals) {

    private static final HttpMethod CONNECT = HttpMethod.valueOf("CONNECT");
    private static final Refusal REFUSAL = new Refusal(
            HttpStatus.METHOD_NOT_ALLOWED,
            "connect",
            "The gateway opens no tunnels.",
            List.of(),
            null,
            Tunnels::addFields);

    /** Throws {@link NotAdmittedException} when the request asks for a tunnel. */
    void requireNone(ServerWebExchange exchange) {
        if (CONNECT.equals(exchange.getRequest().getMethod())) {
            refusals.refused(null, REFUSAL.reason(), true);
            throw new NotAdmittedException(REFUSAL);
        }
    }

    /** Over HTTP/1.1 the connection is closed: what follows may have been meant for the tunnel. */
    private static void addFields(HttpHeaders headers) {
        headers.set(HttpHeaders.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.set(HttpHeaders.CONNECTION, "close");
    }
}
