package io.fairgate.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the server said. Fields that are not known here are passed over, for later servers have more of them. */
record Answer(int status, @Nullable Duration retryAfter, JsonNode body) {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String ID = "[0-9a-f]{32}";
    private static final String SECONDS = "[0-9]{1,9}";

    /** Retry-After as a date is passed over: it would need a clock that agrees with the server's. */
    static Answer of(int status, @Nullable String retryAfter, byte[] body) {
        boolean isSeconds = retryAfter != null && retryAfter.matches(SECONDS);
        return new Answer(status, isSeconds ? Duration.ofSeconds(Long.parseLong(retryAfter)) : null, read(body));
    }

    private static JsonNode read(byte[] body) {
        try {
            return JSON.readTree(body);
        } catch (JacksonException unreadable) {
            return JSON.missingNode();
        }
    }

    /** The label that the lease API gives its problems; null when this is none of them. */
    @Nullable
    String problem() {
        JsonNode reason = body.path("reason");
        return reason.isString() ? reason.stringValue() : null;
    }

    boolean is(int expected, String reason) {
        return status == expected && reason.equals(problem());
    }

    String reason() {
        String problem = problem();
        return problem == null ? "http-" + status : problem;
    }

    String detail() {
        JsonNode detail = body.path("detail");
        return detail.isString() ? detail.stringValue() : "no detail";
    }

    /** Another try may fare better. */
    boolean isForNow() {
        return status == 429 || status >= 500;
    }

    /** The lease that the answer tells of; null when it does not, or not readably. */
    @Nullable
    Told lease() {
        JsonNode id = body.path("id");
        JsonNode token = body.path("token");
        JsonNode expires = body.path("expiresInMillis");
        if (!id.isString() || !id.stringValue().matches(ID)) {
            return null;
        }
        boolean isHeld = "held".equals(body.path("state").asString(""));
        if (isHeld && !(token.isIntegralNumber() && expires.isIntegralNumber())) {
            return null;
        }
        JsonNode receipt = body.path("receipt");
        return new Told(
                id.stringValue(),
                isHeld,
                token.asLong(0),
                Duration.ofMillis(expires.asLong(0)),
                receipt.isString() ? receipt.stringValue() : null);
    }

    /**
     * A lease as an answer tells of it.
     *
     * @param token meaningless unless it is held
     * @param expiresIn from when the answer was made
     * @param receipt what proves to the server after a restart that the lease was held; null when it gives out none
     */
    record Told(
            String id,
            boolean isHeld,
            long token,
            Duration expiresIn,
            @Nullable String receipt) {}
}
