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
 * @param patience how long the server may wait before it answers, in addition to the time that any answer takes
 * @param within how long the client waits for the answer
 */
record Call(
        String method,
        String path,
        @Nullable String key,
        @Nullable Map<String, Object> body,
        Duration patience,
        Duration within) {

    /** The server may keep this call open for long. */
    boolean waits() {
        return patience.toMillis() > 0;
    }
}
