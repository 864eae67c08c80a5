package io.fairgate.spring.refusal;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.Decisions.Decided;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.AbstractServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Turns refusals, and failures of the upstream, into HTTP: a status, the fields that go with it, and
 * {@code application/problem+json} (RFC 9457). Ordered before Boot's own handler, which would answer them with 500.
 */
public record RefusalHandler(Decisions decisions, RefusalMeters counter) implements WebExceptionHandler, Ordered {

    private static final Logger log = LoggerFactory.getLogger(RefusalHandler.class);
    /** What Reactor Netty gives to every response at first. */
    private static final HttpHeaders CHUNKED = chunked();

    private static final String RESPONSE_HEADERS = RefusalHandler.class.getName() + ".responseHeaders";

    @Override
    public int getOrder() {
        return -2;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (failure instanceof ClientLeftException) {
            return hangUp(exchange);
        }
        Decided decided = decisions.against(exchange, failure);
        if (decided == null) {
            return Mono.error(failure);
        }
        Refusal refusal = decided.refusal();
        TenantPolicy tenant = Exchanges.tenant(exchange);
        if (refusal.isFailure()) {
            counter.failed(Exchanges.pool(exchange), tenant, refusal.reason());
        } else if (refusal.equals(Refusal.BACKEND_LOST)) {
            counter.refused(tenant == null ? null : tenant.id(), refusal.reason(), true);
        }
        // A response that has begun cannot be replaced, and must not look complete, so its connection is closed.
        boolean begun = exchange.getResponse().isCommitted();
        log.debug("{}: {}", begun ? "Broken off" : "Refused", decided.decision());
        return begun ? hangUp(exchange) : answer(exchange, refusal, decided.decision());
    }

    private static Mono<Void> answer(ServerWebExchange exchange, Refusal refusal, Decision decision) {
        restoreResponseHeaders(exchange);
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(refusal.status());
        HttpHeaders headers = response.getHeaders();
        headers.setCacheControl("no-store");
        headers.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        refusal.headers().forEach((name, values) -> values.forEach(value -> headers.add(name, value)));
        if (refusal.retryAfter() != null) {
            headers.set(
                    HttpHeaders.RETRY_AFTER,
                    Long.toString(Math.max(1, RateLimitFields.secondsUp(refusal.retryAfter()))));
        }
        byte[] body = ProblemJson.of(refusal, decision.id());
        headers.setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    private static HttpHeaders chunked() {
        HttpHeaders headers = new HttpHeaders();
        headers.set(HttpHeaders.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED.toString());
        return HttpHeaders.readOnlyHttpHeaders(headers);
    }

    /** Keeps the headers of the response as they are before a route adds to them. */
    public static void keepResponseHeaders(ServerWebExchange exchange) {
        exchange.getAttributes().put(RESPONSE_HEADERS, copy(exchange.getResponse()));
    }

    private static HttpHeaders copy(ServerHttpResponse response) {
        HttpHeaders headers = response.getHeaders();
        if (headers.isEmpty()) {
            return HttpHeaders.EMPTY;
        }
        return response instanceof AbstractServerHttpResponse received
                        && received.getNativeResponse() instanceof HttpServerResponse netty
                        && netty.responseHeaders().size() == 1
                        && netty.responseHeaders()
                                .contains(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED, true)
                ? CHUNKED
                : HttpHeaders.copyOf(headers);
    }

    /** Removes what a route, or its upstream, has added to the headers of the response. */
    private static void restoreResponseHeaders(ServerWebExchange exchange) {
        HttpHeaders kept = exchange.getAttribute(RESPONSE_HEADERS);
        if (kept != null) {
            HttpHeaders headers = exchange.getResponse().getHeaders();
            headers.clear();
            headers.putAll(kept);
            Exchanges.repeatFields(exchange);
        }
    }

    private static Mono<Void> hangUp(ServerWebExchange exchange) {
        return Mono.fromRunnable(() -> Exchanges.close(exchange));
    }
}
