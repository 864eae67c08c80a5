package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.quota.TenantCharge;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The operations of the lease API, without HTTP. Each call may be repeated, a lease is visible to its tenant only, and one
 * unit of the tenant's quotas is charged when a lease is granted, whether or not a call waits for it.
 *
 * <p>A lease is over when it was released, has expired, or was refused. Its id is then kept for ten minutes, so that a
 * repetition of the call that acquired it does not acquire another lease.
 *
 * <p>Thread-safe; no method blocks. Answers are emitted on the thread that produces them.
 */
record LeaseService(TenantAccess access, LeasePools pools, LeaseRegister register) {

    /** A call that may wait longer is answered after this time. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    /** A lease and its state at one moment. */
    record Standing(LeaseEntry entry, LeaseStatus lease) {
        boolean isHeld() {
            return !lease.held().isEmpty();
        }
    }

    /**
     * Acquires a lease, or continues with the one that was requested before under the same id.
     *
     * @param check emits the charge, or errors when it would be refused now
     * @return the state of the lease when it is held, or when the call may wait no longer
     */
    Mono<Standing> acquire(AcquireLease request, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            LeaseEntry existing = register.find(request.id());
            if (existing != null && !existing.request().owner().equals(request.owner())) {
                return Mono.error(LeaseProblems.RESTORE_CONFLICT); // Only in a restore does the client choose the id.
            }
            if (existing != null) {
                return existing.request().permits().equals(request.permits())
                        ? repeated(existing, request, acquire(request, check))
                        : Mono.error(LeaseProblems.KEY_REUSED);
            }
            Throwable end = register.tombstone(request);
            if (end != null) {
                if (end != LeaseProblems.ENDED) {
                    unpaid(request); // The charge was refused before, and the repeated call is refused again.
                }
                return Mono.error(end);
            }
            return pools.requireFits(request.tenant(), request.permits())
                    .then(check.doOnError(refused -> unpaid(request)))
                    .flatMap(charge -> first(request, charge));
        });
    }

    private void unpaid(AcquireLease request) {
        register.audit().refusedByQuota(request.caller(), request.subject());
    }

    private Mono<Standing> first(AcquireLease request, TenantCharge charge) {
        LeaseEntry mine = new LeaseEntry(request, charge, () -> {
            unpaid(request);
            register.release(request.id());
        });
        return begin(mine).flatMap(isFirst -> {
            if (!isFirst) {
                return acquire(request, Mono.just(charge));
            }
            return opened(mine).flatMap(isOpen -> isOpen ? held(mine, request) : taken(mine));
        });
    }

    /** Opens the lease, also when the call is cancelled meanwhile: a repeated call continues with it. */
    private Mono<Boolean> opened(LeaseEntry mine) {
        AcquireLease request = mine.request();
        Mono<Boolean> opened = register.leases()
                .open(mine.id(), request.tenant(), request.holder(), term(request))
                // It may have taken effect. Calls that wait for it begin anew.
                .doOnError(unreachable -> {
                    register.remove(mine);
                    register.release(mine.id());
                    mine.open();
                })
                .doOnNext(isOpen -> {
                    if (!isOpen) {
                        register.remove(mine);
                    }
                    mine.open();
                });
        return Mono.fromFuture(opened::toFuture, true);
    }

    /** One of several simultaneous calls for an id is the first; the others continue with the lease that it has begun. */
    Mono<Boolean> begin(LeaseEntry mine) {
        if (register.isEnding()) {
            return access.refuseDraining();
        }
        return register.find(mine.id()) == null
                ? register.isFull()
                        .flatMap(isFull -> isFull ? Mono.error(LeaseProblems.TOO_MANY) : Mono.just(register.add(mine)))
                : Mono.just(register.add(mine));
    }

    /** The id belongs to a lease that was not opened here. */
    <T> Mono<T> taken(LeaseEntry mine) {
        register.remove(mine);
        mine.open();
        return Mono.error(LeaseProblems.RESTORE_CONFLICT);
    }

    /** Continues with a lease once it is open. If a restore was refused and opened none, this call is the first. */
    Mono<Standing> repeated(LeaseEntry existing, AcquireLease request, Mono<Standing> first) {
        return existing.opened()
                .then(Mono.defer(() -> register.find(existing.id()) == existing ? held(existing, request) : first));
    }

    private Mono<Standing> held(LeaseEntry entry, AcquireLease request) {
        Duration patience = request.maxWait().compareTo(LONGEST_WAIT) < 0 ? request.maxWait() : LONGEST_WAIT;
        LeaseRequest permits = new LeaseRequest(request.permits(), patience, request.ttl());
        return register.leases()
                .acquire(entry.id(), permits, status -> {})
                .then(standing(entry))
                .onErrorResume(LeaseGoneException.class, gone -> Mono.empty())
                .switchIfEmpty(Mono.defer(() -> gone(entry)));
    }

    private <T> Mono<T> gone(LeaseEntry entry) {
        Throwable refusal = entry.refusal();
        if (refusal != null) {
            return Mono.error(refusal);
        }
        return register.isEnding() ? access.refuseDraining() : Mono.error(LeaseProblems.ENDED);
    }

    /** The state of the lease, once it is charged; empty when it is over. */
    private Mono<Standing> standing(LeaseEntry entry) {
        return register.leases()
                .status(entry.id())
                .flatMap(status -> status.held().isEmpty()
                        ? Mono.just(status)
                        : entry.charged().then(register.leases().status(entry.id())))
                .map(status -> new Standing(entry, status));
    }

    /** For the time before the grant; after it, the pools bound the lease. */
    LeaseTerm term(AcquireLease request) {
        Duration ttl = request.permits().keySet().stream()
                .map(pool -> pools.bounds(pool).maxTtl())
                .reduce(request.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
        return new LeaseTerm(ttl, LeaseTerm.LONGEST);
    }

    /** The entry of a lease of this tenant; null when the tenant has no lease with this id. */
    @Nullable
    LeaseEntry find(TenantId owner, LeaseId id) {
        LeaseEntry entry = register.find(id);
        return entry == null || !entry.request().owner().equals(owner) ? null : entry;
    }

    /** The state of a lease. Errors with {@link LeaseProblems#EXPIRED} when it is over. */
    Mono<Standing> status(LeaseEntry entry) {
        return entry.opened()
                .then(standing(entry))
                .onErrorMap(failure -> failure == entry.refusal(), unpaid -> LeaseProblems.EXPIRED)
                .switchIfEmpty(Mono.error(LeaseProblems.EXPIRED));
    }

    /** Makes a lease last that long from now on, as far as its pools allow. Errors like {@link #status}. */
    Mono<Standing> extend(LeaseEntry entry, Duration ttl) {
        return register.leases().extend(entry.id(), ttl).then(status(entry));
    }

    Mono<Void> release(LeaseEntry entry) {
        return register.leases().release(entry.id()).then();
    }
}
