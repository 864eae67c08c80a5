package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.LeaseEndedException;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeaseUnpaidException;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import reactor.core.publisher.Mono;

/**
 * The operations of the lease API, without HTTP. Each call may be repeated, a lease is visible to its owner only, and one unit of
 * the tenant's quotas is charged when a lease is granted, whether or not a call waits for it.
 *
 * <p>The id of a lease that held permits or waited is kept for ten minutes after its end, so that a repetition of the call
 * that acquired it does not acquire another lease. A lease that was refused is forgotten: the call may be repeated.
 *
 * <p>Thread-safe; no method blocks. Answers are emitted on the thread that produces them.
 */
record LeaseService(TenantAccess access, LeasePools pools, LeaseRegister register) {

    /** A call that may wait longer is answered after this time. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    /** How long a lease stays that no call has requested after it was opened. */
    private static final Duration UNUSED = Duration.ofSeconds(10);

    private Leases leases() {
        return register.leases();
    }

    /** Whether a lease holds permits or waits for some; otherwise it is about to be requested, or was refused. */
    private static boolean isInUse(LeaseStatus lease) {
        return !lease.held().isEmpty() || lease.waiting() != null;
    }

    // ---- acquire ----

    /**
     * Acquires a lease, or continues with the one that was requested before under the same id.
     *
     * @return the state of the lease when it is held, or when the call may wait no longer
     */
    Mono<LeaseStatus> acquire(AcquireLease request, LeaseCharge charge) {
        return leases().status(request.id())
                .filter(LeaseService::isInUse)
                .hasElement()
                .flatMap(isKnown -> isKnown ? held(request, charge, LeaseProblems.KEY_REUSED) : first(request, charge))
                // It was refused at another gateway, which has forgotten it; or it has ended, and cannot be opened.
                .onErrorResume(failure -> failure == LeaseProblems.ENDED, gone -> first(request, charge));
    }

    private Mono<LeaseStatus> first(AcquireLease request, LeaseCharge charge) {
        return opened(request, charge).then(Mono.defer(() -> held(request, charge, LeaseProblems.KEY_REUSED)));
    }

    /** One of several simultaneous calls opens the lease, and the others continue with it. Each errors if it could not be charged now. */
    private Mono<Void> opened(AcquireLease request, LeaseCharge charge) {
        return pools.requireFits(request.tenant(), request.permits())
                .then(requireRoom())
                .then(Mono.defer(() -> leases().open(request.id(), request.leaseHolder(), unused(request))))
                .onErrorMap(LeaseEndedException.class, ended -> LeaseProblems.ENDED)
                .then(charge.checked())
                .onErrorResume(
                        LeaseService::isRefusal,
                        refusal -> forgotten(request.id()).then(Mono.error(refusal)))
                .then();
    }

    Mono<Void> requireRoom() {
        return Mono.defer(() -> register.isEnding()
                ? access.refuseDraining()
                : register.isFull().flatMap(isFull -> isFull ? Mono.error(LeaseProblems.TOO_MANY) : Mono.empty()));
    }

    /**
     * Acquires the permits of an open lease, or waits for them with the earlier calls.
     *
     * @param other the error when the lease has or wants other permits
     */
    Mono<LeaseStatus> held(AcquireLease request, LeaseCharge charge, HttpProblem other) {
        Duration patience = request.maxWait().compareTo(LONGEST_WAIT) < 0 ? request.maxWait() : LONGEST_WAIT;
        LeaseRequest permits = new LeaseRequest(request.permits(), patience, request.ttl());
        return leases().acquire(request.id(), permits, lease -> {
                    requireSame(lease, request, other);
                    return charge.payment();
                })
                .then(leases().status(request.id()))
                .filter(LeaseService::isInUse)
                .onErrorMap(IllegalStateException.class, waitsForOthers -> other)
                .onErrorResume(LeaseGoneException.class, gone -> Mono.empty())
                // It was refused at another gateway, which has told its own caller why.
                .onErrorResume(LeaseUnpaidException.class, unpaid -> acquire(request, charge))
                .onErrorResume(
                        LeaseService::isRefusal,
                        refusal -> forgotten(request.id()).then(Mono.error(refusal)))
                .switchIfEmpty(Mono.defer(
                        () -> register.isEnding() ? access.refuseDraining() : Mono.error(LeaseProblems.ENDED)));
    }

    private static void requireSame(LeaseStatus lease, AcquireLease request, HttpProblem other) {
        if (!lease.holder().owner().equals(request.owner())) {
            throw LeaseProblems.RESTORE_CONFLICT; // Only in a restore does the client choose the id.
        }
        if (isInUse(lease) && !permits(lease).equals(request.permits())) {
            throw other;
        }
    }

    /** The permits that it holds or waits for, by the name of the pool. */
    static Map<String, Integer> permits(LeaseStatus lease) {
        Map<String, Integer> permits = new TreeMap<>();
        lease.held().forEach(held -> permits.put(held.pool(), held.permits()));
        LeaseStatus.Waiting waiting = lease.waiting();
        if (waiting != null) {
            permits.putAll(waiting.permits());
        }
        return permits;
    }

    private static boolean isRefusal(Throwable failure) {
        return failure instanceof PermitRefusedException || TenantAccess.isQuotaUsedUp(failure);
    }

    /** Ends a lease that was refused. If another call has requested it anew, it stays. */
    private Mono<Void> forgotten(LeaseId id) {
        return leases().forget(id).onErrorComplete(); // otherwise it expires
    }

    /** The lease lasts longer as soon as it is requested. */
    private LeaseTerm unused(AcquireLease request) {
        LeaseTerm term = term(request);
        return term.ttl().compareTo(UNUSED) <= 0 ? term : new LeaseTerm(UNUSED, term.maxHold(), term.remembered());
    }

    /** For the time before the grant, or for a lease that is restored; later the pools bound the lease. */
    LeaseTerm term(AcquireLease request) {
        Duration ttl = request.permits().keySet().stream()
                .map(pool -> pools.bounds(pool).maxTtl())
                .reduce(request.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
        return new LeaseTerm(ttl, LeaseTerm.LONGEST, register.remembered());
    }

    // ---- existing leases ----

    /** The state of a lease of this tenant. Errors with {@link LeaseProblems#EXPIRED} when it has no such lease. */
    Mono<LeaseStatus> status(TenantId owner, LeaseId id) {
        return leases().status(id)
                .filter(lease -> isInUse(lease) && lease.holder().owner().equals(owner))
                .switchIfEmpty(Mono.error(LeaseProblems.EXPIRED));
    }

    /** Makes a lease last that long from now on, as far as its pools allow. Errors like {@link #status}. */
    Mono<LeaseStatus> extend(TenantId owner, LeaseId id, Duration ttl) {
        return status(owner, id).flatMap(lease -> leases().extend(id, ttl)).then(Mono.defer(() -> status(owner, id)));
    }
}
