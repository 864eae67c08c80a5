package io.fairgate.lease;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The port of leases: permits under an id and an expiry, for holders that are not requests, such as batch jobs, workers and
 * crawlers. They come from the same pools as the permits of requests, by the same rules, and return to the pool when their
 * holder falls silent.
 *
 * <p>A lease is opened without permits, and then acquires permits: most leases those of one pool, once; some those of several
 * pools, at once or one after the other. A lease waits for one set of permits at a time, and keeps its place in the queue for
 * as long as it lasts, whether a caller waits for the answer or not. It ends when it is released or expires, and then gives
 * back its permits and its place in the queue. An expired lease does not exist for any later call.
 *
 * <p><b>Signals.</b> Every result is lazy: nothing happens before it is subscribed, and each subscription is a separate call.
 * What a call has done holds after its answer, for every call that is subscribed later. A permit that returns to a pool may
 * be granted to the next lease a moment after the answer.
 *
 * <p><b>Events.</b> A listener receives an event before the call that caused it is answered. Events that several calls cause
 * at the same time come in any order.
 *
 * <p><b>Threads.</b> Safe for any thread; no thread is blocked. Answers and events come on the subscribing thread or on any
 * other, so subscribers must not block.
 *
 * <p><b>Cancellation</b> of a call ends the wait for its answer, and leaves open whether the call takes effect.
 *
 * <p><b>Errors.</b> A backend in another process can be out of reach: then the calls error with
 * {@link LeasesUnavailableException}, and it is unknown whether a call took effect. Every call may be repeated.
 */
public interface Leases {

    /**
     * Opens a lease without permits.
     *
     * @return false, and nothing has changed, when a lease with this id exists. Errors with {@link LeaseEndedException} when
     *     one has ended that is still remembered
     */
    Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term);

    /** Acquires permits that cost nothing, without a look at the lease. */
    default Mono<Boolean> acquire(LeaseId id, LeaseRequest request) {
        return acquire(id, request, status -> null);
    }

    /**
     * Acquires permits, or continues to wait for them: a repeated call for the same permits keeps the place in the queue of the
     * first call. Pools of which the lease holds permits already are left out.
     *
     * @param payment examines the lease before anything is requested; an exception of it becomes the error. The lease does not
     *     change between this and the request. A backend that finds that it did (by a revision number, for instance) asks
     *     anew, so this may run more than once, and the last run counts. It must be quick, and must not call the leases.
     *     What it returns is subscribed to once, when a pool has granted the permits and before the lease holds them: when
     *     it errors, the permits go back, the lease waits no longer, and this error is the answer. The payment of a later
     *     call takes the place of an earlier one; null leaves that in its place. A backend that many processes share may
     *     lose a payment together with the process that was called, and may ask for another one after it has lost that process or an
     *     answer in the middle of a grant
     * @return true when the lease holds the permits; false when it still waits, because {@link LeaseRequest#answerWithin} is
     *     over or several later calls wait for the same answer, or when the lease has given its place back.
     *     Errors with {@link LeaseGoneException} when the lease does not exist or ends meanwhile, with
     *     {@link PermitRefusedException} when a pool refuses, with {@link IllegalArgumentException} when a pool does not
     *     exist, with {@link IllegalStateException} when the lease waits for other permits, and with the error of the
     *     payment. After a cancellation the lease keeps waiting
     */
    Mono<Boolean> acquire(LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment);

    /**
     * Makes a lease last for {@code ttl} from now on, within its maximum hold and the bounds of its pools. It may last for
     * less time than before.
     *
     * @return how long it lasts; empty, and nothing has changed, when the lease does not exist
     */
    Mono<Duration> extend(LeaseId id, Duration ttl);

    /**
     * Ends a lease: its permits are released, and calls that wait for it error with {@link LeaseGoneException}.
     *
     * @return false when the lease does not exist
     */
    Mono<Boolean> release(LeaseId id);

    /** Ends a lease that neither holds permits nor waits for some. Without effect on any other lease. */
    Mono<Void> forget(LeaseId id);

    /**
     * Releases the permits that a lease holds of one pool, or its place in the queue there; the lease goes on. If it waited
     * for permits of other pools as well, it requests those anew.
     *
     * @return false when the lease neither holds permits of that pool nor waits for them; errors with
     *     {@link LeaseGoneException} when the lease does not exist
     */
    Mono<Boolean> release(LeaseId id, String pool);

    /**
     * Opens a lease that holds permits already, although the pools of this process have not granted them: after a restart, for
     * a holder that has proof of what it held ({@link PermitPool#restore}). Its bounds count from the first grant, and its new
     * fencing token is larger than its old one. Cancelling it before the answer ends the lease.
     *
     * @return false, and nothing has changed, when a lease with this id exists. Errors with {@link LeaseEndedException} as
     *     {@link #open} does, with {@link PermitRefusedException} when a pool refuses, which is reported to the listeners, and
     *     with {@link IllegalArgumentException} when a pool does not exist; then there is no lease
     */
    Mono<Boolean> restore(LeaseId id, LeaseHolder holder, LeaseTerm term, HeldBefore before);

    /**
     * Remembers that a lease has ended that these leases do not know, so that it cannot be restored. Without effect on an
     * open lease.
     */
    Mono<Void> bury(LeaseId id, TenantId tenant, Duration remembered);

    /** Where the leases are remembered. */
    Mono<LeaseMemory> memory();

    /** The status of a lease; empty when it does not exist. */
    Mono<LeaseStatus> status(LeaseId id);

    /** The ids of all leases, in no order. Takes time in proportion to their number. */
    Flux<LeaseId> ids();

    /** The ids of the leases of one tenant, in no order. Takes time in proportion to their number. */
    Flux<LeaseId> ids(TenantId tenant);

    /** The numbers of open, holding and waiting leases. Takes constant time. */
    Mono<LeaseCount> count();

    /** The number of open leases of one tenant. Takes constant time. */
    Mono<Integer> count(TenantId tenant);

    /** The leases that wait in a pool. Takes time in proportion to the queues of all pools and tenants. */
    Mono<WaitingLeases> waiting(String pool);

    /** Tells the listener of all events of leases from now on. */
    void listen(LeaseListener listener);

    /**
     * Lets no call wait any more: those that do error with {@link LeaseGoneException}. Leases that wait end, or go on to wait
     * in another process that serves them; leases that hold permits stay.
     */
    Mono<Void> drain();

    /** Ends the leases, or leaves them to the other processes that serve them. No call is permitted afterwards. */
    Mono<Void> close();
}
