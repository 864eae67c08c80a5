package io.fairgate.redis.lease;

import reactor.core.publisher.Mono;

/** Calls of the book that go on when the caller waits no longer: a change of the book must not stay without what follows from it. */
final class Detached {

    private Detached() {}

    static <T> Mono<T> call(Mono<T> call) {
        return Mono.defer(() -> Mono.fromFuture(call.toFuture(), true));
    }
}
