package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import org.jspecify.annotations.Nullable;

/**
 * What an owner has used of one quota. All calls are made under the owner's lock. Only a charge and a settlement change
 * what is used; all else may be asked any number of times, and with other numbers of the same quota.
 */
abstract sealed class Usage permits RateUsage, SlidingUsage, WindowUsage {

    private boolean forgotten;

    /** Whether {@code units} pass now. */
    abstract boolean passes(Quota quota, long units, Moment now);

    /** Whether that many units, which pass, may be given at once; if not, they have to be written down first. */
    boolean isCovered(Quota quota, long units) {
        return true;
    }

    /** @param units that somebody waits for; below 0 when nobody does any more */
    void await(long units) {}

    /** Has written down what is used or waited for, and not what is neither. */
    void follow() {}

    /**
     * Uses {@code units}, which have just passed at the same moment.
     *
     * @return what {@link #settle} needs to find this charge again
     */
    abstract long charge(long units);

    /**
     * Corrects an earlier charge. What is given back goes to where it was charged; a debt is charged now.
     *
     * @param mark what the charge returned; of no meaning when {@code more} is above 0
     * @param more units above what was charged; below 0 to give some of them back
     */
    abstract void settle(Quota quota, long mark, long more, Moment now);

    /** How the quota stands for a request of {@code units}; 0 asks for nothing. */
    abstract Balance balance(OwnedQuota quota, long units, Moment now);

    /** Whether forgetting it would make no difference. */
    abstract boolean isNothing(Moment now);

    /** Whether a record of it is on its way to the disk. */
    boolean isBeingWritten() {
        return false;
    }

    void forget() {
        forgotten = true;
    }

    /** Whether it no longer counts, because nothing of it was used when its owner forgot it. */
    boolean isForgotten() {
        return forgotten;
    }

    /** @param journaled where a window's usage is written down; null for nowhere */
    static Usage of(Quota quota, Moment now, @Nullable JournaledUsage journaled) {
        if (quota instanceof Quota.Rate rate) {
            return new RateUsage(rate, now.nanos());
        } else if (quota instanceof Quota.Sliding sliding) {
            return new SlidingUsage(sliding.within(), now.nanos());
        } else {
            return new WindowUsage(journaled);
        }
    }
}
