package io.fairgate.permit;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolTotals;
import io.fairgate.fairness.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The port of permits: a named, bounded set of permits that tenants share fairly.
 *
 * <p><b>Signals.</b> What {@code withPermit} returns is lazy: nothing is asked for before it is subscribed, and each
 * subscription is a request of its own. It emits what the work emits. It errors with {@link PermitRefusedException}
 * when no permit was to be had (the work was then never subscribed), with {@link HoldExpiredException} when the work
 * held its permits for too long (it was cancelled), and with the work's own error.
 *
 * <p><b>The permits</b> are taken before the work is subscribed and given back exactly once: when it completes,
 * before that signal goes on; when it errors, the subscriber cancels or the hold expires, as soon as the work has settled
 * ({@link PermitRequest#settled}), which without such a thing is at once, and before the error goes on.
 * If subscribing to the work throws, they are given back as well.
 *
 * <p><b>Cancellation</b> while waiting frees the place in the queue at once; the work is never subscribed then, also when
 * the grant was under way.
 *
 * <p><b>Threads.</b> The work is subscribed on the request's own executor ({@link PermitRequest#home}), also when it did
 * not wait; refusals and expiries are emitted there as well. Without such an executor, a work that need not wait may be
 * subscribed by the subscribing thread, at once; otherwise the pool's scheduler takes its place. No thread is blocked, ever.
 */
public interface PermitPool {

    /** Where {@link #withPermit(Mono)} finds the tenant in the subscriber's context. */
    Object TENANT = TenantId.class;

    String name();

    /** Runs the work while holding the permits of the request. */
    <T> Mono<T> withPermit(PermitRequest request, Mono<T> work);

    /** Runs the work while holding the permits of the request, from subscription to the last element. */
    <T> Flux<T> withPermit(PermitRequest request, Flux<T> work);

    /**
     * Runs the work with one permit of the tenant that the subscriber's context names under {@link #TENANT}.
     *
     * <p>It errors with {@link IllegalStateException} when the context names none.
     */
    default <T> Mono<T> withPermit(Mono<T> work) {
        return Mono.deferContextual(context -> withPermit(PermitRequest.of(tenantOf(context)), work));
    }

    /**
     * Waits for permits, for at most {@link PermitRequest#maxWait}, and hands them over to the subscriber, who has to
     * release them; after the maximum hold they are taken back.
     *
     * <p>It emits once and completes, or errors with {@link PermitRefusedException}. Cancelling it while it waits leaves
     * the queue; after the emission cancelling means nothing. An operator in between that drops the element, as those that
     * choose between several sources do, loses the handle, and the permits come back only after the maximum hold: where
     * there is a work to wrap, {@link #withPermit} is the safe choice.
     */
    Mono<HeldPermits> acquire(PermitRequest request);

    /**
     * Counts permits as held that were granted before a restart and are in use still. The caller must have proof of that, such
     * as a receipt of its own. They are counted at once, past the queue, and though no permit may be free: until enough
     * permits have come back, the pool grants nothing.
     *
     * <p>It emits once, and the permits are the subscriber's as with {@link #acquire}. It errors with
     * {@link PermitRefusedException} when the pool is being closed, and as {@link RefusalReason#TOO_LARGE} when
     *
     * <ul>
     *   <li>all that this pool has ever restored would be more permits than it has now: holders from before the restart
     *       cannot have held more than that together, so some of the proofs are of permits that were given back, or
     *   <li>the tenant would hold more than it could ever be granted, or
     *   <li>more than {@link PoolSettings#MAX_PERMITS} would be in flight.
     * </ul>
     *
     * <p>What is refused in this way can still be acquired. A maximum wait means nothing here.
     */
    Mono<HeldPermits> restore(PermitRequest request);

    /**
     * Takes permits if that needs no waiting, and never waits: for callers that have something else to do otherwise.
     *
     * <p>Nobody is overtaken: while others wait that come first, the answer is no. It may also be no while another thread
     * is at work in the pool at this very moment. A maximum wait, a home or what is to settle of the request mean nothing
     * here; and so does a maximum hold: who takes permits in this way has to give them back.
     *
     * @return null when there are none to be had now
     */
    @Nullable
    HeldPermits tryAcquire(PermitRequest request);

    /**
     * Whether a permit lies open that a request of this tenant for one permit could take now without asking. A hint: another
     * request may take it first, and the answer may be no although there is one.
     */
    default boolean hasOpenPermit(TenantId tenant) {
        return false;
    }

    /**
     * How the pool stands as a whole, once it has seen to all that it had been asked before. Takes a few steps, however many
     * tenants there are.
     *
     * <p>Completes at once, on the subscribing thread unless another thread is at work in the pool.
     */
    Mono<PoolTotals> totals();

    /** How many permits are in flight; see {@link #totals}. */
    default Mono<Integer> inFlight() {
        return totals().map(PoolTotals::inFlight);
    }

    /**
     * How one tenant stands. Takes time in proportion to the tenants that hold or want something, and a few steps for one
     * that does not.
     *
     * <p>Completes at once, on the subscribing thread unless another thread is at work in the pool.
     */
    Mono<TenantStanding> standing(TenantId tenant);

    /**
     * Whether the tenant could be granted that many permits at once if everybody else gave back theirs, under the settings
     * that are in force. A request for more would be refused as {@link RefusalReason#TOO_LARGE}.
     *
     * <p>Completes at once, on the subscribing thread unless another thread is at work in the pool.
     */
    Mono<Boolean> couldGrant(TenantId tenant, int permits);

    private static TenantId tenantOf(ContextView context) {
        return context.<TenantId>getOrEmpty(TENANT)
                .orElseThrow(() -> new IllegalStateException(
                        "no tenant in the context (expected: .contextWrite(c -> c.put(PermitPool.TENANT, tenantId)))"));
    }

    /**
     * How the pool stands, tenant by tenant. Takes time in proportion to the tenants that hold or want something, or owe
     * ({@link PoolStatus}); the others cost nothing.
     *
     * <p>Completes at once, on the subscribing thread unless another thread is at work in the pool.
     */
    Mono<PoolStatus> snapshot();

    /**
     * Closes the pool: from subscription on, new requests are refused as {@link RefusalReason#DRAINING}; waiting ones
     * are served for as long as {@code patience}, then refused as well. Completes when nothing waits and nothing is in
     * flight any more; cancelling it does not open the pool again.
     */
    Mono<Void> close(Duration patience);
}
