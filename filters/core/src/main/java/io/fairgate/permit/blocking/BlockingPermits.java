package io.fairgate.permit.blocking;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolUnavailableException;
import java.util.concurrent.Callable;
import reactor.core.scheduler.Schedulers;

/**
 * The permits of a pool for code that blocks: the calling thread waits in the same queue as all other requests of the pool. A virtual
 * thread costs little while it waits. A platform thread is occupied, so a pool that serves platform threads needs a short
 * {@code maxWait}, or few callers.
 *
 * <p>All methods may be called from any thread that may block, and throw {@link IllegalStateException} on one that may not, such as
 * an event loop or a thread of {@link Schedulers#parallel()}. The {@code eventLoop} of a request is not used.
 *
 * <p>A thread that holds permits and waits for more permits of the same pool can wait for itself: ask for all of them at once
 * ({@link PermitRequest#withPermits}).
 */
public final class BlockingPermits {

    private final PermitPool pool;

    public BlockingPermits(PermitPool pool) {
        this.pool = pool;
    }

    /**
     * Waits for permits, for at most {@link PermitRequest#maxWait}. The caller must release them:
     *
     * <pre>{@code
     * try (HeldPermits held = permits.acquire(PermitRequest.of("acme"))) {
     *     …
     * }
     * }</pre>
     *
     * <p>After the maximum hold they are taken back, and {@link HeldPermits#isHeld} is false; the thread is not told. {@link #call} tells it.
     *
     * @throws PermitRefusedException when the pool refuses the request
     * @throws HoldExpiredException when the maximum hold was over before this thread ran again
     * @throws PoolUnavailableException when the backend of the pool cannot be reached
     * @throws InterruptedException when the thread is interrupted while it waits; its place in the queue is free then
     */
    public HeldPermits acquire(PermitRequest request) throws InterruptedException {
        requireThreadThatMayBlock();
        Turn turn = new Turn(request);
        turn.await(pool, request);
        return turn;
    }

    /**
     * Waits for permits as {@link #acquire} does, calls the work on this thread, and releases the permits.
     *
     * <p>When the work has held them for longer than the maximum hold, this thread is interrupted. The permits come back when the work has
     * returned or thrown, and then {@link PermitRequest#quiesced} has completed if the request has it, at the latest after
     * {@link PermitRequest#quiesceWithin}. When the work ends, this interrupt is taken back. An interrupt by other code that comes after it
     * cannot be told from it, and is taken back as well.
     *
     * @throws HoldExpiredException when the maximum hold was over before the work ended, whatever the work returned; an exception
     *     that it threw is suppressed in this one
     * @throws Exception what the work throws, or what {@link #acquire} throws
     */
    public <T> T call(PermitRequest request, Callable<T> work) throws Exception {
        requireThreadThatMayBlock();
        Turn turn = new Turn(request);
        turn.await(pool, turn.quiescing(request));
        return turn.call(work);
    }

    private static void requireThreadThatMayBlock() {
        if (Schedulers.isInNonBlockingThread()) {
            throw new IllegalStateException(
                    "%s waits for permits (expected: a thread that may block, or PermitPool.withPermit)"
                            .formatted(Thread.currentThread().getName()));
        }
    }
}
