package io.fairgate.client;

import reactor.core.publisher.Mono;

/** Sends requests to the server. */
interface Transport {

    /**
     * Sends the request once subscribed, and emits the response, whatever its status. Errors with
     * {@link java.io.IOException} when no response came; then it is unknown whether the server has acted. Cancelling stops the
     * wait for the response, and leaves that unknown as well. Does not enforce {@link ApiRequest#timeout}.
     */
    Mono<ApiResponse> send(ApiRequest request);

    /** Accepts no further requests; those under way end without a response. */
    default void close() {}
}
