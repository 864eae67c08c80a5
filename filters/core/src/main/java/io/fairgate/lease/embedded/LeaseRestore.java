package io.fairgate.lease.embedded;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseListener.End;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The restore of one lease, which has just been opened for it. Its steps act on the lease and not on its id: the lease may
 * end meanwhile, and a later lease may have the id.
 */
final class LeaseRestore {

    private final LeaseLedger ledger;
    private final OpenLease lease;
    private final HeldBefore before;
    private final long token;
    /** Guarded by the lock of the ledger. */
    private boolean isDone;

    LeaseRestore(LeaseLedger ledger, OpenLease lease, HeldBefore before) {
        this.ledger = ledger;
        this.lease = lease;
        this.before = before;
        ledger.tokens.continueAbove(before.token());
        this.token = ledger.tokens.next();
    }

    Mono<Boolean> run() {
        return Flux.fromIterable(before.permits().entrySet())
                .concatMap(each -> ledger.requirePool(each.getKey())
                        .restore(lease.permitRequest(each.getValue()))
                        .doOnNext(held -> hold(each.getKey(), held))
                        .doOnError(PermitRefusedException.class, e -> refused(each.getKey(), e)))
                .then(Mono.fromRunnable(this::complete).thenReturn(true))
                .doOnError(e -> undo())
                .doOnCancel(this::undo);
    }

    private void hold(String pool, HeldPermits held) {
        ledger.run(step -> {
            // A call that acquires permits meanwhile goes before: the lease must not get them twice.
            if (lease.isGone || lease.waiting != null || lease.grantOf(pool) != null) {
                step.after(held::release);
            } else {
                long grantedAt = step.now - before.heldFor().toNanos();
                ledger.addGrant(lease, new OpenLease.Grant(pool, held, token, 0, grantedAt));
                ledger.expireAt(lease, ledger.bounded(lease, lease.expiresAt));
            }
        });
    }

    private void refused(String pool, PermitRefusedException why) {
        ledger.run(step -> {
            if (!lease.isGone) {
                LeaseStatus status = ledger.status(lease, step.now);
                LeaseStatus.Waiting asked = new LeaseStatus.Waiting(before.permits(), pool, 1, 0);
                ledger.publish(step, listener -> listener.refused(status, asked, why.reason()));
            }
        });
    }

    private void complete() {
        ledger.run(step -> {
            isDone = true;
            if (!lease.isGone && !lease.grants.isEmpty()) {
                LeaseStatus status = ledger.status(lease, step.now);
                ledger.publish(step, listener -> listener.restored(status));
            }
        });
    }

    /**
     * Ends the lease when the restore has failed or was cancelled; one for which a call has acquired permits meanwhile, or waits,
     * goes on. A cancellation after the answer changes nothing.
     */
    private void undo() {
        ledger.run(step -> {
            if (lease.isGone || isDone) {
                return;
            }
            List<OpenLease.Grant> own = lease.grants.stream()
                    .filter(grant -> grant.token() == token)
                    .toList();
            if (lease.waiting == null && own.size() == lease.grants.size()) {
                lease.forget(); // The restore may be repeated.
                ledger.end(lease, End.RELEASED, step);
            } else {
                own.forEach(grant -> ledger.removeGrant(lease, grant, step));
            }
        });
    }
}
