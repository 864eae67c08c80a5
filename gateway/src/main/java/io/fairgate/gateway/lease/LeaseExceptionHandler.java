package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.admission.TenantAccess;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.util.DisconnectedClientHelper;
import reactor.core.publisher.Mono;

/** Answers errors as {@code application/problem+json}. Refusals of the gateway are answered as the gateway does it. */
record LeaseExceptionHandler(TenantAccess access) implements WebExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(LeaseExceptionHandler.class);

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (failure instanceof HttpProblem problem) {
            return problem.answer(exchange);
        }
        if (failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE) {
            return LeaseProblems.neverFits(refused.pool()).answer(exchange);
        }
        // The same error comes back when the gateway does not handle it; any other comes from writing the answer.
        return access.handle(exchange, failure)
                .onErrorResume(e -> e == failure, notOurs -> unexpected(exchange, failure));
    }

    private static Mono<Void> unexpected(ServerWebExchange exchange, Throwable failure) {
        if (exchange.getResponse().isCommitted() || DisconnectedClientHelper.isClientDisconnectedException(failure)) {
            return Mono.error(failure);
        }
        log.error("A call of the lease API failed.", failure);
        return LeaseProblems.FAILED.answer(exchange);
    }
}
