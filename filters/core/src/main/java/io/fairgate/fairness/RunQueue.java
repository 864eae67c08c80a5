package io.fairgate.fairness;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The run queue of one node: its backlogged children, their sums, and which of them comes next.
 *
 * <p>The scheduler's rules define the answers, and so does {@code ScanRunQueue} in the tests, which looks at every node each
 * time. {@link HeapRunQueue} gives the same answers, to the last bit, without looking at all nodes.
 *
 * <p>While a node is in the run queue, its permits in flight, its permit-time and its settings change only between
 * {@link #beforeChange} and {@link #afterChange}, or for all nodes before {@link #afterChangeOfAll}. After a change of the
 * head of its queue, or of the costs below it, {@link #afterChangeOfQueue} must be called.
 */
interface RunQueue {

    void add(SchedulingNode node, long contendedNow);

    void remove(SchedulingNode node, long contendedNow);

    void beforeChange(SchedulingNode node, long contendedNow);

    void afterChange(SchedulingNode node, long contendedNow);

    void afterChangeOfQueue(SchedulingNode node);

    /** Recomputes everything: any key, account or weight may have changed, and the gain too. */
    void afterChangeOfAll(long contendedNow, long gain);

    boolean isEmpty();

    int size();

    /**
     * The virtual time: the weighted mean of the attained services over the nodes that compete by their keys, or over all
     * nodes when none of them does. The run queue must not be empty.
     */
    double virtualTime(long contendedNow);

    /** The sum of the nodes' weights, in units of {@link SchedulingNode#WEIGHT_UNIT}. */
    long weightUnits();

    /** The smallest cost of a grant to the parent, over all nodes. The run queue must not be empty. */
    long leastCost();

    /** The node with the smallest key among those that pass the test and can be granted a request at no cost. */
    @Nullable
    SchedulingNode firstWithinReservation(long contendedNow, Predicate<SchedulingNode> test);

    /** Of the nodes whose next request is within their guarantee, the one that holds the smallest part of it. */
    @Nullable
    SchedulingNode mostUrgent();

    /** Like {@link #mostUrgent}, among the nodes that pass a test. Looks at all nodes within their guarantee. */
    @Nullable
    SchedulingNode mostUrgentOf(Predicate<SchedulingNode> test);

    /** The node with the smallest key. */
    @Nullable
    SchedulingNode first(long contendedNow);

    /** Whether a key comes before another. Ties go to the node whose last grant is longest ago, then to the older node. */
    static boolean precedes(double keyOfA, SchedulingNode a, double keyOfB, SchedulingNode b) {
        int order = Double.compare(keyOfA, keyOfB);
        return order < 0
                || (order == 0 && (a.lastGrant < b.lastGrant || (a.lastGrant == b.lastGrant && a.ordinal < b.ordinal)));
    }
}
