package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.DecisionLog.Decision;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import tools.jackson.databind.json.JsonMapper;

/**
 * Turns refusals, and failures of the upstream, into HTTP: a status, the fields that go with it, and
 * {@code application/problem+json} (RFC 9457). Ordered before Boot's own handler, which would make a 500 of them.
 */
final class RefusalHandler implements WebExceptionHandler, Ordered {

    private static final Logger log = LoggerFactory.getLogger(RefusalHandler.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Refusals refusals;
    private final DecisionLog decisions;
    private final InstantSource clock;

    RefusalHandler(Refusals refusals, DecisionLog decisions, InstantSource clock) {
        this.refusals = refusals;
        this.decisions = decisions;
        this.clock = clock;
    }

    @Override
    public int getOrder() {
        return -2;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (failure instanceof ClientLeftException) {
            return hangUp(exchange);
        }
        Refusal refusal = refusals.of(failure);
        if (refusal == null) {
            return Mono.error(failure);
        }
        return exchange.getResponse().isCommitted() ? breakOff(exchange, refusal) : answer(exchange, refusal);
    }

    /** The answer has begun, so it cannot be replaced; what must not happen is that it looks complete. */
    private Mono<Void> breakOff(ServerWebExchange exchange, Refusal refusal) {
        Decision decision = decide(exchange, refusal);
        decisions.add(decision);
        log.debug("Broken off: {}", decision);
        return hangUp(exchange);
    }

    private Mono<Void> answer(ServerWebExchange exchange, Refusal refusal) {
        Decision decision = decide(exchange, refusal);
        decisions.add(decision);
        log.debug("Refused: {}", decision);
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(refusal.status());
        HttpHeaders headers = response.getHeaders();
        headers.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        refusal.headers().forEach((name, values) -> values.forEach(value -> headers.add(name, value)));
        if (refusal.retryAfter() != null) {
            headers.set(
                    HttpHeaders.RETRY_AFTER,
                    Long.toString(Math.max(1, RateLimitFields.secondsUp(refusal.retryAfter()))));
        }
        byte[] body = JSON.writeValueAsBytes(problem(refusal, decision.id()));
        headers.setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    private Decision decide(ServerWebExchange exchange, Refusal refusal) {
        TenantPolicy tenant = Exchanges.tenant(exchange);
        return new Decision(
                DecisionLog.newId(),
                clock.instant(),
                refusal.status().value(),
                refusal.reason(),
                tenant == null ? null : tenant.id().value(),
                exchange.getRequest().getPath().value(),
                refusal.detail());
    }

    private static Map<String, Object> problem(Refusal refusal, String decision) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("type", refusal.type());
        problem.put("title", refusal.status().getReasonPhrase());
        problem.put("status", refusal.status().value());
        problem.put("detail", refusal.detail());
        problem.put("reason", refusal.reason());
        if (!refusal.violated().isEmpty()) {
            problem.put("violated-policies", refusal.violated());
        }
        problem.put("decision", decision);
        return problem;
    }

    private static Mono<Void> hangUp(ServerWebExchange exchange) {
        return Mono.fromRunnable(() -> {
            Connection connection = Exchanges.connection(exchange);
            if (connection != null) {
                var unused = connection.channel().close();
            }
        });
    }
}
