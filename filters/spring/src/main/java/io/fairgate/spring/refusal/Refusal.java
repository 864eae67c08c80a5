package io.fairgate.spring.refusal;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
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
 * @param fields adds the header fields that go with it to the response
 */
public record Refusal(
        HttpStatus status,
        String reason,
        String detail,
        List<String> violated,
        @Nullable Duration retryAfter,
        Consumer<HttpHeaders> fields) {

    /** No header fields. */
    public static final Consumer<HttpHeaders> NO_FIELDS = headers -> {};

    /** The upstream could not be reached, closed the connection too early, or sent no valid response. */
    public static final Refusal UPSTREAM_LOST = of(
            HttpStatus.BAD_GATEWAY,
            "upstream-lost",
            "The upstream could not be reached, closed the connection too early, or sent no valid response.");

    /** The gateway is shutting down. */
    public static final Refusal DRAINING =
            temporary("draining", "This gateway is shutting down.", Refusal::closeConnection);

    /** The backend of the pool or of the quotas cannot be reached. */
    public static final Refusal BACKEND_LOST =
            temporary("backend-lost", "The shared state of this gateway cannot be reached.", NO_FIELDS);

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private static void closeConnection(HttpHeaders headers) {
        headers.set(HttpHeaders.CONNECTION, "close");
    }

    private static Refusal temporary(String reason, String detail, Consumer<HttpHeaders> fields) {
        return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, reason, detail, List.of(), Duration.ofSeconds(1), fields);
    }

    /** A refusal without violated policies, a time to retry, or header fields. */
    public static Refusal of(HttpStatus status, String reason, String detail) {
        return new Refusal(status, reason, detail, List.of(), null, NO_FIELDS);
    }

    /** Whether the request was admitted, and failed after that. */
    boolean isFailure() {
        return status == HttpStatus.BAD_GATEWAY
                || status == HttpStatus.GATEWAY_TIMEOUT
                || status == HttpStatus.REQUEST_TIMEOUT;
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
