package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The children of one parent that hold permits, have waiting requests, or are idle and still owe. No step has to look at
 * the others: of many thousands of configured tenants only a few may be active.
 *
 * <p>Nodes with waiting requests are in a heap by the length of their queue per weight, which changes only with their own
 * events. An idle node that owed is dropped at the first look after it owes nothing. A node that is not configured stays
 * until {@link Hierarchy} forgets it, because {@link Hierarchy} finds such nodes here.
 */
final class PresentNodes {

    private static final int ABSENT = -1;

    private final List<SchedulingNode> present = new ArrayList<>();
    private final NodeHeap byQueue = new NodeHeap(NodeHeap.Order.LONGEST_QUEUE_FIRST);

    void add(SchedulingNode node) {
        if (!node.isIdle()) {
            wake(node);
        }
        queueChanged(node);
    }

    void remove(SchedulingNode node) {
        byQueue.update(node, false);
        drop(node);
    }

    /** The node is about to get a permit or a waiting request. */
    void wake(SchedulingNode node) {
        if (node.placeAmongPresent == ABSENT) {
            node.placeAmongPresent = present.size();
            present.add(node);
        }
    }

    void dropIfDebtless(SchedulingNode node) {
        if (node.configured && isDebtless(node)) {
            drop(node);
        }
    }

    /** The number of requests that wait at or below the node has changed. */
    void queueChanged(SchedulingNode node) {
        byQueue.update(node, node.waiting > 0);
    }

    private void drop(SchedulingNode node) {
        int hole = node.placeAmongPresent;
        if (hole != ABSENT) {
            SchedulingNode last = present.remove(present.size() - 1);
            if (last != node) {
                present.set(hole, last);
                last.placeAmongPresent = hole;
            }
            node.placeAmongPresent = ABSENT;
        }
    }

    /** Adds all nodes after their settings and counts may have changed: each of them may owe. */
    void rebuild(Collection<SchedulingNode> all) {
        all.forEach(node -> {
            wake(node);
            queueChanged(node);
        });
        byQueue.reorder();
    }

    void dropDebtless() {
        for (int i = present.size() - 1; i >= 0; i--) {
            dropIfDebtless(present.get(i));
        }
    }

    private static boolean isDebtless(SchedulingNode node) {
        return node.isIdle() && !node.siblings().owes(node);
    }

    /** The node with the longest queue per weight; the oldest of those that tie; null when nothing waits. */
    @Nullable
    SchedulingNode longestQueue() {
        return byQueue.top();
    }

    /** All nodes that hold, wait or owe, in the order in which they were made; the clock must have been brought forward. */
    List<SchedulingNode> thatCount() {
        dropDebtless();
        return sorted(present.stream().filter(node -> !isDebtless(node)));
    }

    /** Like {@link #thatCount}, and also nodes that owe nothing: every node that {@link Hierarchy} may forget is here. */
    List<SchedulingNode> inOrder() {
        return sorted(present.stream());
    }

    private static List<SchedulingNode> sorted(Stream<SchedulingNode> nodes) {
        return nodes.sorted(Comparator.comparingLong(node -> node.ordinal)).toList();
    }
}
