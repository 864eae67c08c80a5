package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.DecisionLog.Decision;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.route.Route;
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
    private final FairgateMeters meters;
    private final DecisionLog decisions;
    private final IdentityAudit audit;
    private final InstantSource clock;

    RefusalHandler(
            Refusals refusals, FairgateMeters meters, DecisionLog decisions, IdentityAudit audit, InstantSource clock) {
        this.refusals = refusals;
        this.meters = meters;
        this.decisions = decisions;
        this.audit = audit;
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
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        Refusal refusal = refusals.of(failure, route != null);
        if (refusal == null) {
            return Mono.error(failure);
        }
        Decision decision = decide(exchange, refusal, route, failure);
        decisions.add(decision);
        if (failure instanceof IdentityRefusedException identity) {
            audit.refused(decision, exchange.getRequest().getMethod(), identity.key());
        }
        if (refusal.isFailure()) {
            meters.failed(Exchanges.pool(exchange), Exchanges.tenant(exchange), refusal.reason());
        }
        // An answer that has begun cannot be replaced; what must not happen is that it looks complete.
        boolean begun = exchange.getResponse().isCommitted();
        log.debug("{}: {}", begun ? "Broken off" : "Refused", decision);
        return begun ? hangUp(exchange) : answer(exchange, refusal, decision);
    }

    private static Mono<Void> answer(ServerWebExchange exchange, Refusal refusal, Decision decision) {
        Exchanges.restoreOwnFields(exchange);
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
        byte[] body = JSON.writeValueAsBytes(problem(refusal, decision.id()));
        headers.setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    private Decision decide(ServerWebExchange exchange, Refusal refusal, @Nullable Route route, Throwable failure) {
        TenantPolicy tenant = Exchanges.tenant(exchange);
        TenantId claimed = failure instanceof IdentityRefusedException identity ? identity.claimed() : null;
        InetAddress peer = Exchanges.peer(exchange);
        return new Decision(
                DecisionLog.newId(),
                clock.instant(),
                refusal.status().value(),
                refusal.reason(),
                tenant == null ? null : tenant.id().value(),
                claimed == null ? null : claimed.value(),
                peer == null ? null : peer.getHostAddress(),
                route == null ? null : route.getId(),
                exchange.getRequest().getPath().value(),
                refusal.isFailure() ? failure.toString() : null);
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
