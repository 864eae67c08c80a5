package io.fairgate.fairness;

import org.jspecify.annotations.Nullable;

/**
 * The backlogged tenants of a pool: their sums, and which of them comes next.
 *
 * <p>What the answers are is defined by the scheduler's rules and by {@code ScanBacklog} in the test tree, which looks
 * at every tenant each time. {@link HeapBacklog} gives the same answers, to the last bit, without looking at all of them.
 *
 * <p>While a tenant is in here, its permits in flight, what it was served and its settings change only between
 * {@link #beforeChange} and {@link #afterChange}; of another head of its queue {@link #afterChangeOfQueue} is told.
 */
interface Backlog {

    void add(TenantShare share, long contendedNow);

    void remove(TenantShare share, long contendedNow);

    void beforeChange(TenantShare share, long contendedNow);

    void afterChange(TenantShare share, long contendedNow);

    void afterChangeOfQueue(TenantShare share);

    /** Every key and every account may have changed, the horizon as well. */
    void afterChangeOfAll(long contendedNow, long horizon);

    boolean isEmpty();

    /** What all of them were served together. */
    long served(long contendedNow);

    /** The sum of their weights, in units of {@link TenantShare#WEIGHT_UNIT}. */
    long weightUnits();

    /** The smallest of their weights, in the same units; looks at all of them. */
    long smallestWeightUnits();

    /** Of those whose head lies within their own reservation, the one with the smallest key. */
    @Nullable
    TenantShare firstWithinReservation(long contendedNow);

    /** Of those below their guarantee, the one that has the smallest part of it. */
    @Nullable
    TenantShare mostUrgent();

    /** The same among those that may pass the pin; looks at all of them. */
    @Nullable
    TenantShare mostUrgentPast(Pin pin);

    /** The one with the smallest key. */
    @Nullable
    TenantShare first(long contendedNow);

    /** Says who may pass a pinned claim. */
    interface Pin {
        boolean isPassedBy(TenantShare share);
    }

    /** Whether a key, of which ties are decided by who was served longest ago, comes before another. */
    static boolean precedes(double keyOfA, TenantShare a, double keyOfB, TenantShare b) {
        int order = Double.compare(keyOfA, keyOfB);
        return order < 0
                || (order == 0 && (a.lastGrant < b.lastGrant || (a.lastGrant == b.lastGrant && a.ordinal < b.ordinal)));
    }
}
