package io.fairgate.fairness;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The backlogged ones among siblings: their sums, and which of them comes next.
 *
 * <p>What the answers are is defined by the scheduler's rules and by {@code ScanBacklog} in the test tree, which looks
 * at every node each time. {@link HeapBacklog} gives the same answers, to the last bit, without looking at all of them.
 *
 * <p>While a node is in here, its permits in flight, what it was served and its settings change only between
 * {@link #beforeChange} and {@link #afterChange}; of another head of its queue, and of other costs below it,
 * {@link #afterChangeOfQueue} is told.
 */
interface Backlog {

    void add(Share share, long contendedNow);

    void remove(Share share, long contendedNow);

    void beforeChange(Share share, long contendedNow);

    void afterChange(Share share, long contendedNow);

    void afterChangeOfQueue(Share share);

    /** Every key and every account may have changed, the gain as well. */
    void afterChangeOfAll(long contendedNow, long gain);

    boolean isEmpty();

    int size();

    /**
     * The weighted mean of served / weight over those that compete by their keys; over all when no key decided about any.
     * The backlog must not be empty.
     */
    double level(long contendedNow);

    /** The sum of their weights, in units of {@link Share#WEIGHT_UNIT}. */
    long weightUnits();

    /** The least that granting something costs their parent; there must be somebody. */
    long leastCost();

    /** Of those that something can be granted to at no cost, and that pass the test, the one with the smallest key. */
    @Nullable
    Share firstWithinReservation(long contendedNow, Predicate<Share> test);

    /** Of those whose next grant is promised to them, the one that has the smallest part of its guarantee. */
    @Nullable
    Share mostUrgent();

    /** The same among those that pass a test; looks at all of them. */
    @Nullable
    Share mostUrgentOf(Predicate<Share> test);

    /** The one with the smallest key. */
    @Nullable
    Share first(long contendedNow);

    /** Whether a key, of which ties are decided by who was served longest ago, comes before another. */
    static boolean precedes(double keyOfA, Share a, double keyOfB, Share b) {
        int order = Double.compare(keyOfA, keyOfB);
        return order < 0
                || (order == 0 && (a.lastGrant < b.lastGrant || (a.lastGrant == b.lastGrant && a.ordinal < b.ordinal)));
    }
}
