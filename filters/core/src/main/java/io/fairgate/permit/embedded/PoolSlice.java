package io.fairgate.permit.embedded;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.tenant.TenantId;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * The part of an {@link EmbeddedPermitPool} that this process may grant, where several processes share the permits of one pool:
 * its <em>slice</em>. The code that divides the pool between the processes calls this class. The pool decides about its requests as
 * ever, and never waits for an answer from outside.
 *
 * <p>The slice ends at a time. Permits in flight are not taken back then, but nothing more is granted: requests that wait, and new
 * ones, error with {@link io.fairgate.permit.PoolUnavailableException}, and so does a request that was granted before and has not
 * begun. {@code tryAcquire} returns null. A thread that pauses between its look at the clock and the beginning of the work may
 * begin it too late.
 *
 * <p>When a slice follows one that has ended, {@link #limit} must be in force before {@link #endsAt} is called: otherwise the bound of
 * the old slice would hold again.
 *
 * <p>For one caller at a time, on any thread.
 */
public final class PoolSlice {

    private final EmbeddedPermitPool pool;

    PoolSlice(EmbeddedPermitPool pool) {
        this.pool = pool;
    }

    /**
     * Bounds the permits in flight. No permit is taken back, and requests beyond the bound wait. What can ever be granted is decided by
     * the size of the pool. Below the sum of all reservations nothing is granted. In force from subscription on; takes time in
     * proportion to the permits of the pool, up to 1,024.
     *
     * <p>A request that is larger than the bound waits for a larger one. Nothing is collected for it meanwhile, and other requests are
     * granted.
     *
     * @param most 0 or more
     * @param leased permits in flight by which the caller will lower the bound when they are released: no request can have them
     * @return the permits in flight at the moment when the bound came into force. From then on there are never more than this
     *     number or {@code most}, whichever is more, except for permits that are restored
     * @throws IllegalArgumentException as its error, when {@code most} or {@code leased} is negative
     */
    public Mono<Integer> limit(int most, int leased) {
        return pool.drain.limit(most, leased);
    }

    /**
     * Sets the end of the slice, in nanoseconds on the clock of the pool's scheduler; {@link Long#MAX_VALUE} for no end, as at the
     * beginning. It holds at once, also while the pool is busy.
     */
    public void endsAt(long nanos) {
        pool.sliceEndsAt(nanos);
    }

    /**
     * Has only a part of some weights and guarantees count, because the rest counts in other processes. Parts of guarantees are
     * rounded down to whole permits. The parts replace all that were set before, in time in proportion to both. A part of a tenant
     * that the pool does not know yet is ignored.
     *
     * @param tenants more than 0 and at most 1 for each; the whole weights and guarantees of all others count
     * @param groups the same for groups
     * @throws IllegalArgumentException as its error, when a part is another number
     */
    public Mono<Void> weigh(Map<TenantId, Double> tenants, Map<String, Double> groups) {
        return pool.drain.weigh(tenants, groups);
    }

    /**
     * What requests hold and wait for. Of the requests of a tenant that were refused in the last 2 s because they may not wait, the
     * largest one is added, like one that waits. Takes n log n time for n tenants that hold, wait or owe, and time in proportion to
     * the permits of the pool, up to 1,024. While no request waits, permits are taken and given back meanwhile, so that the numbers
     * may be of different moments.
     */
    public Mono<AskedPermits> asked() {
        return pool.drain.asked();
    }
}
