package io.fairgate.quota.embedded;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;

/**
 * What an owner has used of one quota. All calls are made under the owner's lock. Only a charge and a settlement change what
 * is used; the other methods may be called any number of times, also with other numbers of the same quota.
 */
abstract sealed class Usage permits RateUsage, SlidingUsage, WindowUsage {

    /** Whether it no longer counts, because its account has removed it. */
    boolean isForgotten;

    /** Whether {@code units} pass now. */
    abstract boolean passes(Quota quota, long units, ClockReading now);

    /**
     * Uses {@code units}, which have just passed at the same moment.
     *
     * @return what {@link #settle} needs to find this charge again
     */
    abstract long charge(long units);

    /**
     * Corrects an earlier charge. Units are returned to the window of the charge; a debt is charged now.
     *
     * @param mark the result of {@link #charge}; ignored when {@code more} is above 0
     * @param more the units in addition to those charged; below 0 to return some of them
     */
    abstract void settle(Quota quota, long mark, long more, ClockReading now);

    /** The balance, and the wait of a request of {@code units}; 0 for no request. */
    abstract Balance balance(OwnedQuota quota, long units, ClockReading now);

    /** Whether forgetting it would make no difference. */
    abstract boolean isNothing(ClockReading now);
}
