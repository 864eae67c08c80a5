package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;

/** A claim that neither waits nor holds for ever: the drain looks at it when its time is up ({@link Deadlines}). */
abstract class TimedClaim extends PoolClaim {

    /** Where {@link Deadlines} has it; only for the drain. */
    int placeByTime = Deadlines.NOWHERE;

    /**
     * When it is to give its permits back, by the pool's clock; {@link Deadlines#NEVER} as long as that is not known. Of
     * what was granted by the scheduler the drain knows it; of an open permit, who took it.
     */
    volatile long holdUntil = Deadlines.NEVER;

    /** Whether its work is to be cancelled when it is sent home. */
    volatile boolean isHoldOver;

    TimedClaim(PermitRequest request) {
        super(request);
    }

    /** When it is to stop waiting, by the pool's clock. */
    abstract long waitUntil();

    /** For how long it may hold its permits, in nanoseconds; {@link Deadlines#NEVER} for ever. */
    abstract long maxHoldNanos();
}
