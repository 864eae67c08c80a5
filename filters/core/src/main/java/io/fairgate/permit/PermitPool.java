package io.fairgate.permit;

import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.SliceStatus;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The port of permits: a named, bounded set of permits that tenants share fairly.
 *
 * <p><b>Signals.</b> The result of {@code withPermit} is lazy: it requests nothing before it is subscribed, and each
 * subscription is a separate request. It emits what the work emits. It errors with {@link PermitRefusedException} when the
 * pool refused the request (the work was then never subscribed), with {@link HoldExpiredException} when the work held its
 * permits for too long (it was cancelled), and with the work's own error.
 *
 * <p><b>Permits</b> are taken before the work is subscribed and released exactly once. When the work completes, they are
 * released before the signal is passed on. When it errors, the subscriber cancels or the hold expires, they are released as
 * soon as the work has quiesced ({@link PermitRequest#quiesced}); if the request does not say when that is, that is at
 * once, and before an error is passed on. If subscribing to the work throws, they are released as well.
 *
 * <p><b>Cancellation</b> while waiting frees the place in the queue at once; the work is then never subscribed, even if the
 * grant was on its way.
 *
 * <p><b>Threads.</b> The work is subscribed on the request's event loop ({@link PermitRequest#eventLoop}), also when the request
 * did not wait; refusals and expiries are emitted there as well. A request without an event loop that need not wait may be
 * subscribed at once, on the subscribing thread; otherwise the pool's scheduler is used. No thread is ever blocked.
 *
 * <p><b>Answers.</b> A pool answers on a thread of its choice. One in the memory of this process answers at once, on the
 * subscribing thread, unless another thread is at work in it; one in another process answers later, and can be out of reach.
 * Then each call that needs its answer, and each request that waits, errors with {@link PoolUnavailableException}: the work
 * is never subscribed, and permits that were on their way come back. A work that runs goes on. What was released or changed
 * meanwhile reaches the pool when it can be reached again.
 */
public interface PermitPool {

    /** The key of the tenant in the subscriber's context, for {@link #withPermit(Mono)}. */
    Object TENANT = TenantId.class;

    String name();

    /** The settings in force, as far as this process knows. */
    PoolSettings settings();

    /**
     * Changes size, bounds and shares while they are in use. Permits held, places in the queue, and how far each tenant is
     * ahead or behind stay.
     *
     * <p>Nothing changes before subscription. Completes when the change is in force. Changes come into force in the order in
     * which they were subscribed to; cancelling one does not take it back.
     *
     * @throws IllegalArgumentException at once, when the tenants reserve more permits than the pool would have, or their
     *     calculator returns less than 1
     */
    Mono<Void> reconfigure(PoolSettings settings, TenantShares shares);

    /** Runs the work while holding the permits of the request. */
    <T> Mono<T> withPermit(PermitRequest request, Mono<T> work);

    /** Runs the work while holding the permits of the request, from subscription to the last element. */
    <T> Flux<T> withPermit(PermitRequest request, Flux<T> work);

    /**
     * Runs the work with one permit of the tenant that the subscriber's context names under {@link #TENANT}.
     *
     * <p>It errors with {@link IllegalStateException} when the context names no tenant.
     */
    default <T> Mono<T> withPermit(Mono<T> work) {
        return Mono.deferContextual(context -> {
            TenantId tenant = context.<TenantId>getOrEmpty(TENANT)
                    .orElseThrow(
                            () -> new IllegalStateException(
                                    "no tenant in the context (expected: .contextWrite(c -> c.put(PermitPool.TENANT, tenantId)))"));
            return withPermit(PermitRequest.of(tenant), work);
        });
    }

    /**
     * Waits for permits, for at most {@link PermitRequest#maxWait}, and hands them to the subscriber, which must release
     * them. After the maximum hold they are taken back.
     *
     * <p>It emits once and completes, or errors with {@link PermitRefusedException}. Cancelling it while it waits leaves
     * the queue; cancelling after the emission does nothing. An operator in between that drops the element, as operators that
     * choose between several sources do, loses the handle, and the permits come back only after the maximum hold. Where there
     * is a work to wrap, {@link #withPermit} is safer.
     */
    Mono<HeldPermits> acquire(PermitRequest request);

    /**
     * Counts permits as held that were granted before a restart and are still in use. The caller must have proof of that, such
     * as a receipt of its own. The permits are counted at once, ahead of the queue, even if no permit is free: then the pool
     * grants nothing until enough permits are released.
     *
     * <p>It emits once, and the subscriber must release the permits as with {@link #acquire}. It errors with
     * {@link PermitRefusedException}: as {@link RefusalReason#DRAINING} when the pool is being closed, and as
     * {@link RefusalReason#TOO_LARGE} when
     *
     * <ul>
     *   <li>the sum of all permits that this pool has ever restored would exceed its present size: holders from before the
     *       restart cannot have held more than that together, so some of the proofs are of permits that were given back, or
     *   <li>the tenant would hold more than it could ever be granted, or
     *   <li>more than {@link PoolSettings#MAX_PERMITS} would be in flight.
     * </ul>
     *
     * <p>Permits that are refused here can still be acquired. The maximum wait of the request is ignored.
     */
    Mono<HeldPermits> restore(PermitRequest request);

    /**
     * Takes permits if that needs no waiting. For callers that do something else when no permit is free.
     *
     * <p>It overtakes no request: it returns null while requests wait that come first. It may also return null although permits
     * are free, for instance while another thread is at work in the pool. It ignores the request's maximum wait, event loop and
     * {@link PermitRequest#quiesced}. It also ignores the maximum hold: the permits are not taken back, the caller must release them.
     *
     * @return null when the permits cannot be granted now
     */
    @Nullable
    HeldPermits tryAcquire(PermitRequest request);

    /**
     * Whether a request of this tenant for one permit would now probably be granted without waiting. A hint only: another
     * request may take the permit first, and the answer may be false although a permit is free.
     */
    default boolean hasOpenPermit(TenantId tenant) {
        return false;
    }

    /**
     * The totals of the pool, after it has processed all earlier calls. Takes constant time, however many tenants there are.
     */
    Mono<PoolTotals> totals();

    /** The number of permits in flight; see {@link #totals}. */
    default Mono<Integer> inFlight() {
        return totals().map(PoolTotals::inFlight);
    }

    /**
     * The state of one tenant. Takes time in proportion to the number of tenants that hold or wait for permits, and constant
     * time for a tenant that does neither.
     */
    Mono<TenantStanding> standing(TenantId tenant);

    /**
     * Whether the tenant could be granted that many permits at once if no permit were in flight, under the present settings.
     * A request for which this is false is refused as {@link RefusalReason#TOO_LARGE}.
     */
    Mono<Boolean> couldGrant(TenantId tenant, int permits);

    /**
     * The state of the pool, tenant by tenant. Takes time in proportion to the number of tenants that hold or wait for
     * permits, or owe ({@link PoolStatus}); the others cost nothing.
     */
    Mono<PoolStatus> snapshot();

    /** The part of the pool that this process has; null when no other process shares the pool. */
    default @Nullable SliceStatus slice() {
        return null;
    }

    /**
     * Closes the pool. From subscription on, new requests are refused as {@link RefusalReason#DRAINING}; waiting requests are
     * served for as long as {@code patience}, then refused as well. Completes when nothing waits and nothing is in flight any
     * more; errors with {@link PoolUnavailableException} when that cannot be known. Cancelling it does not reopen the pool.
     */
    Mono<Void> close(Duration patience);
}
