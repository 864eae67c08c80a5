package io.fairgate.spring.refusal;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.Decisions.Decided;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.channels.ClosedChannelException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.util.DisconnectedClientHelper;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Turns refusals, and failures of the upstream, into HTTP: a status, the fields that go with it, and
 * {@code application/problem+json} (RFC 9457). Ordered before Boot's own handler, which would answer them with 500.
 */
public record RefusalHandler(Decisions decisions, RefusalMeters counter) implements WebExceptionHandler, Ordered {

    private static final Logger log = LoggerFactory.getLogger(RefusalHandler.class);

    @Override
    public int getOrder() {
        return -2;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (failure instanceof ClientLeftException) {
            return hangUp(exchange);
        }
        if (Exchanges.isAnswered(exchange)) {
            // The answer could not be written, or what broke the request off closes the channel of a stream.
            return failure instanceof ClosedChannelException ? hangUp(exchange) : Mono.error(failure);
        }
        if (hasClientLeft(exchange, failure)) {
            // Otherwise it would count as a failure of the upstream, or be logged as one of the gateway.
            return hangUp(exchange);
        }
        Decided decided = decisions.against(exchange, failure);
        if (decided == null) {
            Exchanges.addFieldsOnCommit(exchange);
            return Mono.error(failure);
        }
        Refusal refusal = decided.refusal();
        count(exchange, refusal);
        // A response that has begun cannot be replaced, and must not look complete, so its connection is closed.
        Exchanges.setAnswered(exchange);
        boolean begun = exchange.getResponse().isCommitted();
        log.debug("{}: {}", begun ? "Broken off" : "Refused", decided.decision());
        return begun ? hangUp(exchange) : answer(exchange, refusal, decided.decision());
    }

    private void count(ServerWebExchange exchange, Refusal refusal) {
        TenantPolicy tenant = Exchanges.tenant(exchange);
        if (refusal.isFailure()) {
            counter.failed(Exchanges.pool(exchange), tenant, refusal.reason());
        } else if (refusal.equals(Refusal.BACKEND_LOST)) {
            counter.refused(tenant == null ? null : tenant.id(), refusal.reason(), true);
        }
    }

    /** Ends a request that has not failed by itself, because its client reads nothing. What waits for its end sees that its client has left. */
    public void breakOff(ServerWebExchange exchange, Throwable failure) {
        if (!Exchanges.isAnswered(exchange)) {
            Decided decided = decisions.against(exchange, failure);
            if (decided != null) {
                count(exchange, decided.refusal());
            }
            Exchanges.setAnswered(exchange);
        }
        ClientConnection.reset(exchange);
    }

    private static Mono<Void> answer(ServerWebExchange exchange, Refusal refusal, Decision decision) {
        Exchanges.restoreResponseHeaders(exchange);
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(refusal.status());
        HttpHeaders headers = response.getHeaders();
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        refusal.fields().accept(headers);
        if (refusal.retryAfter() != null) {
            headers.set(
                    HttpHeaders.RETRY_AFTER,
                    Long.toString(Math.max(1, RateLimitFields.secondsUp(refusal.retryAfter()))));
        }
        Exchanges.addFields(exchange);
        byte[] body = ProblemJson.of(refusal, decision.id());
        headers.setContentLength(body.length);
        HttpServerResponse netty = Exchanges.nettyResponse(exchange);
        return netty == null
                ? response.writeWith(
                        Mono.fromSupplier(() -> response.bufferFactory().wrap(body)))
                // As writeWith does, with fewer operators. The steps that could write as well have ended.
                : ClientConnection.onLoop(
                        exchange,
                        response.setComplete()
                                .then(netty.sendObject(Unpooled.wrappedBuffer(body))
                                        .then()));
    }

    /** Whether a request has failed because its client has closed the connection, or the stream. */
    public static boolean hasClientLeft(ServerWebExchange exchange, Throwable failure) {
        return ClientConnection.isClosed(exchange) // First, because the last question takes a thousand bytes.
                && (failure instanceof AbortedException
                        || failure instanceof Http2Exception
                        || DisconnectedClientHelper.isClientDisconnectedException(failure));
    }

    private static Mono<Void> hangUp(ServerWebExchange exchange) {
        return Mono.fromRunnable(() -> ClientConnection.close(exchange));
    }
}
