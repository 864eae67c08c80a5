package io.fairgate.redis.slice;

import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The ledger of one pool, as a node reaches it. */
interface SliceLedger {

    /** Has the ledger execute a heartbeat. Errors when the ledger does not answer; it may have executed the heartbeat then. */
    Mono<SliceAnswer> heartbeat(Heartbeat beat);

    /**
     * Has a lease last for {@code ttlMillis} from now at least.
     *
     * @return false when the ledger has no such lease. Errors when it may have lost that, and nodes may assert it
     */
    Mono<Boolean> extend(String lease, long ttlMillis);

    /** Ends a lease, also one that a heartbeat on its way would record. */
    Mono<Void> release(String lease);

    /**
     * Has {@code listener} called, on any thread, when the ledger may have free permits, until this is disposed. A call may be missing.
     */
    Disposable onFreePermits(Runnable listener);

    /** Tells the nodes that listen to {@link #onCall} that one of them lacks permits. */
    Mono<Void> callNodes();

    /**
     * Has {@code listener} called, on any thread, when a node calls the others, until this is disposed. A call may be missing.
     */
    Disposable onCall(Runnable listener);
}
