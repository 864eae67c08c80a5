package io.fairgate.client;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request of the lease API.
 *
 * @param path encoded
 * @param key the {@code Idempotency-Key}
 * @param body for JSON; null for none
 * @param maxWait how long the server may wait before it answers, in addition to the time that any answer takes
 * @param timeout how long the client waits for the response
 */
record ApiRequest(
        String method,
        String path,
        @Nullable String key,
        @Nullable Map<String, Object> body,
        Duration maxWait,
        Duration timeout) {

    /** The server may keep this request open for long. */
    boolean waits() {
        return maxWait.toMillis() > 0;
    }
}
