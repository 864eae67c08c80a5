package io.fairgate.redis.slice;

import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The ledger of one pool, as a node reaches it. */
interface SliceLedger {

    /** Has the ledger execute a heartbeat. Errors when the ledger does not answer; it may have executed the heartbeat then. */
    Mono<SliceAnswer> heartbeat(Heartbeat beat);

    /**
     * Has {@code listener} called, on any thread, when the ledger may have free permits, until this is disposed. A call may be missing.
     */
    Disposable onFreePermits(Runnable listener);
}
