package io.fairgate.gateway.http;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/**
 * An error as {@code application/problem+json}. Without stack trace and suppressed errors, one object serves all calls.
 */
public final class HttpProblem extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final HttpStatus status;
    private final String reason;

    /**
     * @param reason a fixed word, for programs
     * @param detail one sentence, for people
     */
    public HttpProblem(int status, String reason, String detail) {
        super(detail, null, false, false);
        this.status = HttpStatus.valueOf(status);
        this.reason = reason;
    }

    public static HttpProblem badRequest(String what, String found, String expected) {
        return new HttpProblem(400, "bad-request", "%s: %s (expected: %s)".formatted(what, found, expected));
    }

    public String reason() {
        return reason;
    }

    /** Sends it. After a 503 the client may try again in a second. */
    public Mono<Void> answer(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getResponse().getHeaders();
        headers.setCacheControl("no-store");
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            headers.set(HttpHeaders.RETRY_AFTER, "1");
        }
        return new HttpCall(exchange, Map.of()).answer(status, MediaType.APPLICATION_PROBLEM_JSON_VALUE, json());
    }

    /** The body of the answer. */
    public String json() {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put(
                "type",
                status == HttpStatus.SERVICE_UNAVAILABLE
                        ? "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
                        : "about:blank");
        problem.put("title", status.getReasonPhrase());
        problem.put("status", status.value());
        problem.put("detail", getMessage());
        problem.put("reason", reason);
        return JSON.writeValueAsString(problem);
    }
}
