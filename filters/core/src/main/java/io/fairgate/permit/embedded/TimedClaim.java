package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;

/** A claim with a bounded wait and a bounded hold: the drain looks at it when its deadline is due ({@link Deadlines}). */
abstract class TimedClaim extends PoolClaim {

    /** The claim's place in {@link Deadlines}; only for the drain. */
    int placeByTime = Deadlines.NOWHERE;

    /**
     * The end of the hold of an open permit, by the pool's clock, written by the claim that took the permit;
     * {@link Deadlines#NEVER} before that. For permits that the scheduler granted, the drain sets the deadline itself.
     */
    volatile long holdUntil = Deadlines.NEVER;

    /** Whether the hold has expired, so that the event loop must end it. */
    volatile boolean isHoldOver;

    TimedClaim(PermitRequest request) {
        super(request);
    }

    /** The end of the longest wait, by the pool's clock. */
    abstract long waitUntil();

    /** The longest hold in nanoseconds; {@link Deadlines#NEVER} for no bound. */
    abstract long maxHoldNanos();
}
