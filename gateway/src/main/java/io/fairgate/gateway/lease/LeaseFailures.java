package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.Call;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.admission.TenantAccess;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.util.DisconnectedClientHelper;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** Answers errors as {@code application/problem+json}. Refusals of the gateway are answered as the gateway does it. */
final class LeaseFailures implements WebExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(LeaseFailures.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final TenantAccess access;

    LeaseFailures(TenantAccess access) {
        this.access = access;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (failure instanceof LeaseProblem problem) {
            return answer(exchange, problem);
        }
        if (failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE) {
            return answer(exchange, LeaseProblem.neverFits());
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
        return answer(exchange, HttpStatus.INTERNAL_SERVER_ERROR, "failed", "The call failed: the log says why.");
    }

    private static Mono<Void> answer(ServerWebExchange exchange, LeaseProblem problem) {
        Duration retryAfter = problem.retryAfter();
        if (retryAfter != null) {
            exchange.getResponse().getHeaders().set(HttpHeaders.RETRY_AFTER, Long.toString(retryAfter.toSeconds()));
        }
        return answer(exchange, problem.status(), problem.reason(), problem.detail());
    }

    private static Mono<Void> answer(ServerWebExchange exchange, HttpStatus status, String reason, String detail) {
        exchange.getResponse().getHeaders().setCacheControl("no-store");
        return new Call(exchange, Map.of())
                .answer(status, MediaType.APPLICATION_PROBLEM_JSON_VALUE, body(status, reason, detail));
    }

    /** The answer to a request whose target is no URI; for such a request no exchange exists. */
    static String malformedTarget() {
        LeaseProblem problem = LeaseProblem.badRequest("path", "malformed", "a URI, with escapes such as %2F");
        return body(problem.status(), problem.reason(), problem.detail());
    }

    private static String body(HttpStatus status, String reason, String detail) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put(
                "type",
                status == HttpStatus.SERVICE_UNAVAILABLE
                        ? "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
                        : "about:blank");
        problem.put("title", status.getReasonPhrase());
        problem.put("status", status.value());
        problem.put("detail", detail);
        problem.put("reason", reason);
        return JSON.writeValueAsString(problem);
    }
}
