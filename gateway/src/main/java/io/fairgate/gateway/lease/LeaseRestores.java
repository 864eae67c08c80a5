package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.receipt.Receipts;
import io.fairgate.lease.LeaseEndedException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.admission.TenantAccess.Caller;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Restores leases that were held before the memory of leases was lost: with a gateway alone, before its restart. */
record LeaseRestores(LeaseService service, LeaseRegister register) {

    /**
     * With proof the lease holds at once what it held; otherwise it is acquired like any other lease. A repeated call continues
     * with the lease of the first.
     *
     * @param proof what the receipt proves; null without a receipt
     * @param charge for a lease that is acquired
     * @return as {@link LeaseService#acquire}
     */
    Mono<LeaseStatus> restore(AcquireLease request, Receipts.@Nullable Proof proof, LeaseCharge charge) {
        return register.leases().status(request.id()).hasElement().flatMap(isKnown -> {
            Mono<Void> restore = register.restoreOf(request.id());
            if (restore != null) {
                return restore.then(Mono.defer(() -> restore(request, proof, charge)));
            }
            return isKnown
                    ? known(request, proof, charge)
                    : register.leases().memory().flatMap(memory -> unknown(request, proof, charge, memory));
        });
    }

    /** A call at another gateway may just be restoring the lease. If that is refused, there is no lease. */
    private Mono<LeaseStatus> known(AcquireLease request, Receipts.@Nullable Proof proof, LeaseCharge charge) {
        return service.held(request, charge, LeaseProblems.RESTORE_CONFLICT)
                .onErrorResume(failure -> failure == LeaseProblems.ENDED, gone -> restore(request, proof, charge));
    }

    private Mono<LeaseStatus> unknown(
            AcquireLease request, Receipts.@Nullable Proof proof, LeaseCharge charge, LeaseMemory memory) {
        if (proof != null && proof.isOf(memory)) {
            return Mono.error(LeaseProblems.ENDED);
        }
        if (!register.mayRestore(memory)) {
            register.forgetRestored();
            return Mono.error(LeaseProblems.RESTORE_CLOSED);
        }
        return proof == null
                ? byQueue(request, charge)
                : service.pools()
                        .requireFits(request.tenant(), request.permits())
                        .then(Mono.defer(() -> first(request, proof, charge)));
    }

    private Mono<LeaseStatus> byQueue(AcquireLease request, LeaseCharge charge) {
        return Mono.defer(() -> {
            register.audit().restored(request.tenant(), "queue");
            return service.acquire(request, charge);
        });
    }

    private Mono<LeaseStatus> first(AcquireLease request, Receipts.Proof proof, LeaseCharge charge) {
        return service.requireRoom()
                .then(register.restoring(
                        request.id(),
                        register.leases()
                                .restore(request.id(), request.leaseHolder(), service.term(request), proof.before())))
                .flatMap(isHeld ->
                        isHeld ? service.status(request.owner(), request.id()) : known(request, proof, charge))
                .switchIfEmpty(Mono.defer(() -> restore(request, proof, charge)))
                .onErrorMap(LeaseEndedException.class, ended -> LeaseProblems.ENDED)
                .onErrorResume(LeaseRestores::isTooLarge, notAtOnce -> byQueue(request, charge));
    }

    private static boolean isTooLarge(Throwable failure) {
        return failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE;
    }

    /** Handles the release of a lease that is not known: its receipt must not restore it later. */
    Mono<Void> releaseUnknown(Caller caller, LeaseId id) {
        // Unknown tenant ids share one tenant; otherwise they could end each other's leases.
        boolean isTenantItself = caller.named().equals(caller.tenant().id());
        return register.leases()
                .memory()
                .filter(memory -> isTenantItself && register.mayRestore(memory))
                .flatMap(memory -> register.leases().bury(id, caller.named(), register.remembered()));
    }
}
