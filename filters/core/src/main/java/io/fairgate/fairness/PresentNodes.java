package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The children of one parent that hold permits, have waiting requests, or are idle and still owe. No step has to look at the
 * others: of many thousands of configured tenants only a few may be active.
 *
 * <p>Nodes with waiting requests are in a heap by the length of their queue per weight, which changes only with their own
 * events. An idle node that owed is dropped at the first look after it owes nothing. A node that is not configured stays
 * until {@link Hierarchy} forgets it, because {@link Hierarchy} finds such nodes here.
 */
final class PresentNodes {

    private static final int ABSENT = -1;

    private final List<SchedulingNode> present = new ArrayList<>();
    private final NodeHeap byQueue = new NodeHeap(new LongestQueueFirst());

    // ---- events of one node ----

    /** Adds a node with the permits and waiting requests that it has. */
    void add(SchedulingNode node) {
        if (!node.isIdle()) {
            wake(node);
        }
        queueChanged(node);
    }

    void remove(SchedulingNode node) {
        if (byQueue.contains(node)) {
            byQueue.remove(node);
        }
        drop(node);
    }

    /** The node is about to get a permit or a waiting request. */
    void wake(SchedulingNode node) {
        if (node.placeAmongPresent == ABSENT) {
            node.placeAmongPresent = present.size();
            present.add(node);
        }
    }

    /** The node holds no permit and has no waiting request any more. */
    void noteIdle(SchedulingNode node, boolean owes) {
        if (node.configured && !owes) {
            drop(node);
        }
    }

    /** The number of requests that wait at or below the node has changed. */
    void queueChanged(SchedulingNode node) {
        boolean isIn = byQueue.contains(node);
        if (node.waiting > 0 && isIn) {
            byQueue.moved(node);
        } else if (node.waiting > 0) {
            byQueue.add(node);
        } else if (isIn) {
            byQueue.remove(node);
        }
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

    // ---- changes of all nodes ----

    /** Adds all nodes after their settings and counts may have changed: each of them may owe. */
    void rebuild(Collection<SchedulingNode> all) {
        all.forEach(node -> {
            wake(node);
            queueChanged(node);
        });
    }

    /** Drops configured nodes that are idle and owe nothing. */
    void dropDebtless(SchedulingGroup siblings) {
        for (int i = present.size() - 1; i >= 0; i--) {
            SchedulingNode node = present.get(i);
            if (node.configured && isDebtless(node, siblings)) {
                drop(node);
            }
        }
    }

    private static boolean isDebtless(SchedulingNode node, SchedulingGroup siblings) {
        return node.isIdle() && !siblings.owes(node);
    }

    // ---- queries ----

    /** The node with the longest queue per weight; the oldest of those that tie; null when nothing waits. */
    @Nullable
    SchedulingNode longestQueue() {
        return byQueue.top();
    }

    /** All nodes that hold, wait or owe, in the order in which they were made; the clock must have been brought forward. */
    List<SchedulingNode> thatCount(SchedulingGroup siblings) {
        dropDebtless(siblings);
        return sorted(present.stream().filter(node -> !isDebtless(node, siblings)));
    }

    /** Like {@link #thatCount}, and also nodes that owe nothing: every node that {@link Hierarchy} may forget is here. */
    List<SchedulingNode> inOrder() {
        return sorted(present.stream());
    }

    private static List<SchedulingNode> sorted(Stream<SchedulingNode> nodes) {
        return nodes.sorted(Comparator.comparingLong(node -> node.ordinal)).toList();
    }

    private static final class LongestQueueFirst implements NodeHeap.Order {
        @Override
        public boolean precedes(SchedulingNode a, SchedulingNode b) {
            int order = Double.compare(a.waiting / a.weight(), b.waiting / b.weight());
            return order > 0 || (order == 0 && a.ordinal < b.ordinal);
        }

        @Override
        public int place(SchedulingNode node) {
            return node.placeByQueue;
        }

        @Override
        public void setPlace(SchedulingNode node, int index) {
            node.placeByQueue = index;
        }
    }
}
