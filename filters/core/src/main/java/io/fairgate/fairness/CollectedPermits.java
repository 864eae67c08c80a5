package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The free permits that are kept for one large claim among siblings, what keeping them has cost so far, and what is known
 * about the holds that it waited for. {@link LargeClaims} has the rules. All times are nanoseconds of the pool's clock.
 */
final class CollectedPermits {

    /** Leaves whose first claim is larger than what may be collected now. They do not compete meanwhile. */
    final Set<Share> aside = new LinkedHashSet<>();

    /** The claim that the permits are kept for; null while none are. */
    @Nullable
    Claim claim;

    /** How many collections there have been; which grants passed one of them is counted by it. */
    long number;

    /** Permits that idle for the claim now. */
    int permits;

    /** Permits that were in flight when a collection last took too long and that have not come back since. */
    private int stillHeld;
    /** The last grant before that. */
    private long lastGrantBefore;

    private boolean othersWait;
    private long othersWaited;
    private double idled;

    void start(Claim next) {
        claim = next;
        number++;
        permits = 0;
        othersWait = false;
        othersWaited = 0;
        idled = 0;
    }

    void noteOthers(boolean wait) {
        othersWait = wait;
    }

    boolean othersWait() {
        return othersWait;
    }

    /** For how long others have waited while permits were kept for this claim. */
    long othersWaited() {
        return othersWaited;
    }

    /** Permit-nanoseconds that idled meanwhile. */
    double idled() {
        return idled;
    }

    void pass(long nanos) {
        if (claim != null && othersWait) {
            othersWaited += nanos;
            idled += (double) permits * nanos;
        }
    }

    // ---- the holds that a collection has waited for in vain ----

    int stillHeld() {
        return stillHeld;
    }

    /** What is in flight now is what it waited for. */
    void tookTooLong(int inFlight, long lastGrant) {
        stillHeld = inFlight;
        lastGrantBefore = lastGrant;
    }

    /** Permits of that grant have come back; returns whether a collection has waited for them in vain. */
    boolean cameBack(long grant, int permits) {
        if (stillHeld == 0 || grant > lastGrantBefore) {
            return false;
        }
        stillHeld -= permits;
        return true;
    }

    /** Whether nothing collects, and nothing is left of earlier collections. */
    boolean isOver() {
        return claim == null && aside.isEmpty() && stillHeld == 0;
    }

    void forget() {
        claim = null;
        permits = 0;
        stillHeld = 0;
        othersWait = false;
        aside.forEach(leaf -> leaf.isAside = false);
        aside.clear();
    }
}
