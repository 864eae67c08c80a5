package io.fairgate.spring.refusal;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/**
 * The answer to a request that the upstream does not answer.
 *
 * @param reason a label for logs, metrics and the decision log
 * @param detail one sentence for people, without any other tenant's numbers and without anything that the client sent
 * @param violated the names of the policies that were violated, for {@code violated-policies}
 * @param retryAfter when it makes sense to try again; null when it never does, or that is not known
 * @param headers fields that go with it
 */
public record Refusal(
        HttpStatus status,
        String reason,
        String detail,
        List<String> violated,
        @Nullable Duration retryAfter,
        HttpHeaders headers) {

    /** The upstream could not be reached, or closed the connection too early. */
    public static final Refusal UPSTREAM_LOST = of(
            HttpStatus.BAD_GATEWAY,
            "upstream-lost",
            "The upstream could not be reached, or closed the connection too early.");

    /** The gateway is shutting down. */
    public static final Refusal DRAINING = temporary("draining", "This gateway is shutting down.", closeConnection());

    /** The backend of the pool or of the quotas cannot be reached. */
    public static final Refusal BACKEND_LOST =
            temporary("backend-lost", "The shared state of this gateway cannot be reached.", HttpHeaders.EMPTY);

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    /** The gateway has more to do than it can. Over HTTP/1.1 the connection is closed. */
    public static Refusal overloaded(String reason) {
        return new Refusal(
                HttpStatus.SERVICE_UNAVAILABLE,
                reason,
                "This gateway is overloaded, and the tenant sends more than its share.",
                List.of(),
                RetryAfter.RANDOM.spread(Duration.ofSeconds(1)),
                DRAINING.headers());
    }

    private static HttpHeaders closeConnection() {
        HttpHeaders headers = new HttpHeaders();
        headers.add(HttpHeaders.CONNECTION, "close");
        return HttpHeaders.readOnlyHttpHeaders(headers);
    }

    private static Refusal temporary(String reason, String detail, HttpHeaders headers) {
        return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, reason, detail, List.of(), Duration.ofSeconds(1), headers);
    }

    /** A refusal without violated policies, a time to retry, or headers. */
    public static Refusal of(HttpStatus status, String reason, String detail) {
        return new Refusal(status, reason, detail, List.of(), null, HttpHeaders.EMPTY);
    }

    /** Whether the request was admitted, and failed after that. */
    boolean isFailure() {
        return status == HttpStatus.BAD_GATEWAY || status == HttpStatus.GATEWAY_TIMEOUT;
    }

    /** The problem type (RFC 9457); those of 429 and 503 are defined by draft-ietf-httpapi-ratelimit-headers. */
    String type() {
        return switch (status) {
            case TOO_MANY_REQUESTS -> TYPES + "quota-exceeded";
            case SERVICE_UNAVAILABLE -> TYPES + "temporary-reduced-capacity";
            default -> "about:blank";
        };
    }
}
