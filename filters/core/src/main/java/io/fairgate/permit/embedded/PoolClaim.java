package io.fairgate.permit.embedded;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;
import org.jspecify.annotations.Nullable;

/** A claim of an embedded pool, from its arrival to the release of its permits. */
abstract class PoolClaim extends QueuedRequest {

    /** A value of {@link #cell}: the claim was submitted, and counts in the bound of such claims until the drain sees it. */
    static final int ON_ITS_WAY = -1;

    /** The fast path from which it took its permit; null when the scheduler granted it. Written before the permit is taken. */
    @Nullable
    OpenPermits from;

    /** The index of its cell in {@link #from}, or {@link #ON_ITS_WAY}. */
    int cell;
    /**
     * When the hold began, by the pool's clock; {@link EmbeddedPermitPool#UNKNOWN} when the pool did not read the clock then.
     */
    long since;

    PoolClaim(PermitRequest request) {
        super(request.tenant(), request.requestClass(), request.permits());
    }

    /** Whether the claim has ended, and needs neither its permits nor its place in the queue any more. */
    abstract boolean isOver();

    /** Refuses the claim; returns false when it had ended before. */
    abstract boolean refuse(RefusalReason reason);

    /** Resumes the request on its event loop; called outside the drain. */
    abstract void goHome();
}
