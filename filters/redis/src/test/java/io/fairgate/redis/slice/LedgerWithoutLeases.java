package io.fairgate.redis.slice;

import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** For tests whose pools have no leases. */
interface LedgerWithoutLeases extends SliceLedger {

    @Override
    default Mono<Void> callNodes() {
        return Mono.empty();
    }

    @Override
    default Disposable onCall(Runnable listener) {
        return () -> {};
    }

    @Override
    default Mono<Boolean> extend(String lease, long ttlMillis) {
        throw new AssertionError("no leases here");
    }

    @Override
    default Mono<Void> release(String lease) {
        throw new AssertionError("no leases here");
    }
}
