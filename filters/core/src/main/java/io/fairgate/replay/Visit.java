package io.fairgate.replay;

import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/**
 * One request of a pool, from the time at which it asked until its end. All times are in nanoseconds of the pool's clock.
 *
 * @param requestClass null for none
 * @param askedAt when it asked for permits
 * @param waited how long it waited, until it was granted its permits or left
 * @param held how long it held its permits, until now if it still does; 0 when it was not granted any
 */
public record Visit(
        TenantId tenant,
        @Nullable String requestClass,
        int permits,
        long askedAt,
        long waited,
        long held,
        Outcome outcome,
        @Nullable RefusalReason refusal) {

    /** How it went. */
    public enum Outcome {
        /** It has its permits. */
        HOLDS,
        /** It had its permits, and has given them back. */
        SERVED,
        /** It was refused; {@link Visit#refusal} says why. */
        REFUSED,
        /** Its client left while it waited, or the backend of the pool was lost. */
        LEFT
    }

    boolean isGranted() {
        return outcome == Outcome.HOLDS || outcome == Outcome.SERVED;
    }

    /** When its wait ended, also if that was by a refusal. */
    long waitedUntil() {
        return askedAt + waited;
    }

    /** When its client had its answer; the time of reading while it still holds its permits. */
    long endedAt() {
        return waitedUntil() + held;
    }
}
