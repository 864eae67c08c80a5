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
 * @param waits whether the server may keep the request open for long
 * @param timeout how long the client waits for the response
 */
record ApiRequest(
        String method,
        String path,
        @Nullable String key,
        @Nullable Map<String, Object> body,
        boolean waits,
        Duration timeout) {}
