package io.fairgate.client;

import reactor.core.publisher.Mono;

/** How a call gets to the server. */
interface Transport {

    /**
     * Sends it once subscribed, and emits the answer, whatever its status. Errors with {@link java.io.IOException} when no
     * answer came, which leaves open whether the server has acted. Cancelling it no longer waits for the answer, and
     * leaves that open as well. Does not watch {@link Call#within}.
     */
    Mono<Answer> send(Call call);

    /** No calls any more; those under way end without an answer. */
    default void close() {}
}
