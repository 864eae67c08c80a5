package io.fairgate.client;

import reactor.core.publisher.Mono;

/** Sends calls to the server. */
interface Transport {

    /**
     * Sends the call once subscribed, and emits the answer, whatever its status. Errors with {@link java.io.IOException} when
     * no answer came; then it is unknown whether the server has acted. Cancelling stops the wait for the answer, and leaves
     * that unknown as well. Does not enforce {@link Call#within}.
     */
    Mono<Answer> send(Call call);

    /** Accepts no further calls; those under way end without an answer. */
    default void close() {}
}
