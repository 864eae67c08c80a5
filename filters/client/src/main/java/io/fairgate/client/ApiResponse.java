package io.fairgate.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A response of the lease API. Unknown fields are ignored, because later servers may send more of them. */
record ApiResponse(int status, @Nullable Duration retryAfter, JsonNode body) {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String ID = "[0-9a-f]{32}";
    private static final String SECONDS = "[0-9]{1,9}";

    /** A {@code Retry-After} that is a date is ignored: it would need a clock that agrees with the server's. */
    static ApiResponse of(int status, @Nullable String retryAfter, byte[] body) {
        boolean isSeconds = retryAfter != null && retryAfter.matches(SECONDS);
        return new ApiResponse(status, isSeconds ? Duration.ofSeconds(Long.parseLong(retryAfter)) : null, read(body));
    }

    private static JsonNode read(byte[] body) {
        try {
            return JSON.readTree(body);
        } catch (JacksonException unreadable) {
            return JSON.missingNode();
        }
    }

    /** The {@code reason} of a problem of the lease API; null when the body has none. */
    @Nullable
    String problem() {
        return body.path("reason").stringValue(null);
    }

    boolean is(int expected, String reason) {
        return status == expected && reason.equals(problem());
    }

    String reason() {
        return body.path("reason").stringValue("http-" + status);
    }

    String detail() {
        return body.path("detail").stringValue("no detail");
    }

    /** The same call may succeed later. */
    boolean isTemporary() {
        return status == 429 || status >= 500;
    }

    /** The lease in the body; null when there is none, or when it is malformed. */
    @Nullable
    LeaseState lease() {
        String id = body.path("id").stringValue("");
        JsonNode token = body.path("token");
        JsonNode expires = body.path("expiresInMillis");
        boolean isHeld = "held".equals(body.path("state").asString(""));
        if (!id.matches(ID) || (isHeld && !(token.isIntegralNumber() && expires.isIntegralNumber()))) {
            return null;
        }
        Duration expiresIn = Duration.ofMillis(expires.asLong(0));
        return new LeaseState(
                id, isHeld, token.asLong(0), expiresIn, body.path("receipt").stringValue(null));
    }

    /**
     * A lease as the server describes it.
     *
     * @param token meaningless unless the lease is held
     * @param expiresIn counted from the moment when the server made the response
     * @param receipt proves to the server after a restart that the lease was held; null when the server issues no receipts
     */
    record LeaseState(
            String id,
            boolean isHeld,
            long token,
            Duration expiresIn,
            @Nullable String receipt) {}
}
