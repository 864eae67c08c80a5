package io.fairgate.redis.slice;

import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * The permits of leases in the ledger of one pool. A lease there outlives the process whose pool granted it: its permits come back when any
 * process ends it, and otherwise at its end. It has a name that no other lease of the pool has and had.
 *
 * <p>For any thread; nothing blocks. Answers come on any thread. A call that Redis does not answer errors with {@link
 * java.util.concurrent.TimeoutException} or an exception of the connection.
 */
public final class LeasePermits {

    private final SliceNode node;

    LeasePermits(SliceNode node) {
        this.node = node;
    }

    /**
     * Moves permits that the pool of this process has granted from its slice to a lease of the ledger. The pool keeps them in flight. Takes
     * effect also when it is cancelled. Waits for as long as Redis does not answer.
     *
     * @param ttl how long the ledger keeps the lease, from its answer on
     * @param isRestored whether the pool has counted the permits although none were free; then this waits until the slice has room for them
     * @return false when the lease has ended meanwhile
     */
    public Mono<Boolean> record(String lease, int permits, Duration ttl, boolean isRestored) {
        return node.record(new LeaseClaim(lease, permits, millis(ttl), 0), isRestored);
    }

    /**
     * Has the ledger keep a lease for {@code ttl} from now at least. Any process may call this.
     *
     * @return false when the ledger does not have the lease. Errors while it may get it back after lost writes
     */
    public Mono<Boolean> extend(String lease, Duration ttl) {
        return node.extend(lease, millis(ttl));
    }

    /**
     * The ledger has this lease, of any process, which lasts for {@code ttl} from now. After lost writes this process has the ledger record it again,
     * until {@link #forget}, {@link #end} or {@link #leave}.
     */
    public void keep(String lease, int permits, Duration ttl) {
        node.keep(LeaseClaim.ofAnother(lease, permits, millis(ttl)));
    }

    /** This process no longer has the ledger record a lease again. */
    public void forget(String lease) {
        node.forget(lease);
    }

    /**
     * Ends a lease. Any process may call this; that whose pool has granted the permits must call it too, with what releases them there.
     * Completes when the permits can be granted again. While Redis cannot be reached, the call completes all the same, and the node tells Redis
     * later. A call that is cancelled takes effect too.
     *
     * @param release releases the permits in the pool of this process; runs once, on any thread
     */
    public Mono<Void> end(String lease, Runnable release) {
        return node.end(lease, release);
    }

    /**
     * The pool of this process does not have the permits in flight any more; the ledger keeps the lease. After lost writes it gets the lease back
     * from another process, once that has called {@link #keep}.
     */
    public Mono<Void> leave(String lease, Runnable release) {
        return node.leave(lease, release);
    }

    private static long millis(Duration ttl) {
        return Math.max(1, ttl.toMillis());
    }
}
