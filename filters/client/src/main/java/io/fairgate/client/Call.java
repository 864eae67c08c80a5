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
 * @param patience how long the server may take its time, beside what any answer takes
 * @param within how long an answer is waited for
 */
record Call(
        String method,
        String path,
        @Nullable String key,
        @Nullable Map<String, Object> body,
        Duration patience,
        Duration within) {

    /** It keeps its connection for long. */
    boolean waits() {
        return patience.toMillis() > 0;
    }
}
