package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;

import io.fairgate.fairness.Claim;
import org.jspecify.annotations.Nullable;

/** A claim as the pool deals with it, from its arrival to the return of its permits. */
abstract class PoolClaim extends Claim {

    /** In the place of a cell: it is on its way to the drain, as one of a bounded number. */
    static final int ON_ITS_WAY = -1;

    /** Where it took an open permit, and in which cell; null when it asked the scheduler. Written before it is taken. */
    @Nullable
    OpenPermits from;

    int cell;
    /** When it came to hold what it took, by the pool's clock; unknown when the pool does not look at the clock then. */
    long since;

    PoolClaim(PermitRequest request) {
        super(request.tenant(), request.requestClass(), request.permits());
    }

    /** Whether it does not want its permits, or its place in the queue, any more. */
    abstract boolean isOver();

    /** Its turn does not come; true when this was news to it. */
    abstract boolean refuse(RefusalReason reason);

    /** Continues where it belongs; called outside the drain. */
    abstract void goHome();
}
