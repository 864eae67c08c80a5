package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.LeaseService.Standing;
import io.fairgate.gateway.lease.receipt.Receipts;
import io.fairgate.lease.LeaseId;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.spring.quota.TenantCharge;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Restores leases that were held before a restart of the gateway. */
record LeaseRestores(LeaseService service, LeaseRegister register) {

    /**
     * With proof the lease holds at once what it held; otherwise it is acquired like any other lease. A repeated call continues
     * with the lease of the first.
     *
     * @param proof what the receipt proves; null without a receipt
     * @param check as for {@link LeaseService#acquire}, for a lease that is acquired
     * @return as {@link LeaseService#acquire}
     */
    Mono<Standing> restore(AcquireLease request, Receipts.@Nullable Proof proof, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            LeaseEntry existing = register.find(request.id());
            if (existing != null) {
                boolean isSame = existing.request().owner().equals(request.owner())
                        && existing.request().permits().equals(request.permits());
                return isSame
                        ? service.repeated(existing, request, restore(request, proof, check))
                        : Mono.error(LeaseProblems.RESTORE_CONFLICT);
            }
            boolean isKnownToBeOver = register.tombstone(request) != null
                    || register.wasRestored(request.id())
                    || (proof != null && proof.isOfThisProcess());
            if (isKnownToBeOver) {
                return Mono.error(LeaseProblems.ENDED);
            }
            if (!register.mayRestore()) {
                register.forgetRestored();
                return Mono.error(LeaseProblems.RESTORE_CLOSED);
            }
            return proof == null
                    ? byQueue(request, check)
                    : service.pools()
                            .requireFits(request.tenant(), request.permits())
                            .then(Mono.defer(() -> first(request, proof, check)));
        });
    }

    private Mono<Standing> byQueue(AcquireLease request, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            register.audit().restored(request.tenant(), "queue");
            return service.acquire(request, check);
        });
    }

    private Mono<Standing> first(AcquireLease request, Receipts.Proof proof, Mono<TenantCharge> check) {
        LeaseEntry mine = new LeaseEntry(request, null, () -> {});
        return service.begin(mine).flatMap(isFirst -> {
            if (!isFirst) {
                return restore(request, proof, check);
            }
            return register.leases()
                    .restore(mine.id(), request.tenant(), request.holder(), service.term(request), proof.before())
                    .doOnError(refused -> register.remove(mine))
                    // Other calls may have found the entry meanwhile. They learn its result, also after a cancellation.
                    .doFinally(end -> mine.open())
                    .flatMap(isHeld -> isHeld ? service.status(mine) : service.taken(mine))
                    .onErrorResume(LeaseRestores::isTooLarge, notAtOnce -> byQueue(request, check));
        });
    }

    private static boolean isTooLarge(Throwable failure) {
        return failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE;
    }

    /** Handles the release of a lease that this process does not know: its receipt must not restore it later. */
    void releaseUnknown(Caller caller, LeaseId id) {
        // Unknown tenant ids share one tenant; otherwise they could end each other's leases.
        boolean isTenantItself = caller.named().equals(caller.tenant().id());
        if (isTenantItself && register.mayRestore()) {
            register.bury(caller.named(), id);
        }
    }
}
