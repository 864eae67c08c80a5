package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * For whom permits collect among siblings, and whose turn it is when that takes long; {@link Turns} says when it changes.
 * All times are nanoseconds of the pool's clock.
 */
final class Pin {

    /** Leaves that want more than is free, and for which nothing collects now. They do not compete meanwhile. */
    final Set<Share> aside = new LinkedHashSet<>();

    @Nullable
    Claim claim;
    /** How many claims there have been; which of them somebody passed is counted by it. */
    long number;

    boolean isOthersTurn;
    long othersTurnEnds;
    /** The leaf for which permits collected before. */
    @Nullable
    Share hadItsTurn;

    private boolean othersWait;
    private long othersWaited;

    void set(Claim next) {
        claim = next;
        number++;
        othersWait = false;
        othersWaited = 0;
    }

    /** Whether anybody competes but the one for whom permits collect; until it is said anew. */
    void noteOthers(boolean wait) {
        othersWait = claim != null && wait;
    }

    boolean othersWait() {
        return othersWait;
    }

    /** For how long others have waited while permits collected for this claim. */
    long othersWaited() {
        return othersWaited;
    }

    void pass(long nanos) {
        if (othersWait) {
            othersWaited += nanos;
        }
    }
}
