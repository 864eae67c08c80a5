package io.fairgate.permit.embedded;

import io.fairgate.tenant.TenantId;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * The part of an {@link EmbeddedPermitPool} that this process may grant, where several processes share the permits of one pool:
 * its <em>slice</em>. What decides about slices is outside of the pool, and tells it through this class. The pool decides about its
 * requests as ever, and never waits for an answer from outside.
 *
 * <p>The slice ends at a time. Permits in flight are not taken back then, but nothing more is granted: requests that wait, and new
 * ones, error with {@link io.fairgate.permit.PoolUnavailableException}, and so does a request that was granted before and whose work has
 * not begun.
 *
 * <p>Any thread may call the methods. Nothing happens before subscription.
 */
public final class PoolSlice {

    private final EmbeddedPermitPool pool;

    PoolSlice(EmbeddedPermitPool pool) {
        this.pool = pool;
    }

    /**
     * Has the pool grant permits only while not more are in flight than {@code most}. No permit is taken back. Requests for more
     * permits wait; what can ever be granted is decided by the size of the pool.
     *
     * @param most 0 or more
     * @return the permits in flight at the moment when the bound came into force. From then on there are never more than this
     *     number or {@code most}, whichever is more
     * @throws IllegalArgumentException as its error, when {@code most} is negative
     */
    public Mono<Integer> limit(int most) {
        return pool.drain.limit(most);
    }

    /**
     * Sets the end of the slice, in nanoseconds of the pool's clock ({@code now} of its scheduler): at once and without a
     * subscription, because a pool that is busy must not grant permits of a slice that has ended.
     */
    public void endsAt(long nanos) {
        pool.sliceEndsAt(nanos);
    }

    /**
     * Has only a part of some weights count, because the rest counts in other processes. Takes time in proportion to the parts.
     *
     * @param tenants more than 0 and at most 1 for each; the whole weight of all others counts
     * @param groups the same for groups
     * @throws IllegalArgumentException as its error, when a part is another number
     */
    public Mono<Void> weigh(Map<TenantId, Double> tenants, Map<String, Double> groups) {
        return pool.drain.weigh(tenants, groups);
    }

    /**
     * The permits that requests of each tenant hold and wait for, as far as caps allow. Takes time in proportion to these
     * tenants, and to the permits of the pool. While no request waits, permits are taken and given back meanwhile, so that the numbers
     * may be of different moments.
     */
    public Mono<Map<TenantId, Double>> asked() {
        return pool.drain.asked();
    }
}
