package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The children of one parent that hold permits, have waiting claims, or are idle and still owe. No step has to look at the
 * others: of many thousands of configured tenants only a few may be active.
 *
 * <p>Nodes with waiting claims are in a heap by the length of their queue per weight, which changes only with their own
 * events. An idle node that owed is dropped at the first look after it owes nothing. A node that is not configured stays
 * until {@link ShareTree} forgets it, because {@link ShareTree} finds such nodes here.
 */
final class PresentNodes {

    private static final int ABSENT = -1;

    private final List<Share> present = new ArrayList<>();
    private final ShareHeap byQueue = new ShareHeap(new LongestQueueFirst());

    // ---- events of one node ----

    /** Adds a node with the permits and waiting claims that it has. */
    void add(Share share) {
        if (!share.isIdle()) {
            wake(share);
        }
        queueChanged(share);
    }

    void remove(Share share) {
        if (byQueue.contains(share)) {
            byQueue.remove(share);
        }
        drop(share);
    }

    /** The node is about to get a permit or a waiting claim. */
    void wake(Share share) {
        if (share.placeAmongPresent == ABSENT) {
            share.placeAmongPresent = present.size();
            present.add(share);
        }
    }

    /** The node holds no permit and has no waiting claim any more. */
    void noteIdle(Share share, boolean owes) {
        if (share.configured && !owes) {
            drop(share);
        }
    }

    /** The number of claims that wait at or below the node has changed. */
    void queueChanged(Share share) {
        boolean isIn = byQueue.contains(share);
        if (share.waiting > 0 && isIn) {
            byQueue.moved(share);
        } else if (share.waiting > 0) {
            byQueue.add(share);
        } else if (isIn) {
            byQueue.remove(share);
        }
    }

    private void drop(Share share) {
        int hole = share.placeAmongPresent;
        if (hole != ABSENT) {
            Share last = present.remove(present.size() - 1);
            if (last != share) {
                present.set(hole, last);
                last.placeAmongPresent = hole;
            }
            share.placeAmongPresent = ABSENT;
        }
    }

    // ---- changes of all nodes ----

    /** Adds all nodes after their settings and counts may have changed: each of them may owe. */
    void rebuild(Collection<Share> all) {
        all.forEach(share -> {
            wake(share);
            queueChanged(share);
        });
    }

    /** Drops configured nodes that are idle and owe nothing. */
    void dropSettled(Siblings siblings) {
        for (int i = present.size() - 1; i >= 0; i--) {
            Share share = present.get(i);
            if (share.configured && isSettled(share, siblings)) {
                drop(share);
            }
        }
    }

    private static boolean isSettled(Share share, Siblings siblings) {
        return share.isIdle() && !siblings.owes(share);
    }

    // ---- queries ----

    /** The node with the longest queue per weight; the oldest of those that tie; null when nothing waits. */
    @Nullable
    Share longestQueue() {
        return byQueue.top();
    }

    /** All nodes that hold, wait or owe, in the order in which they were made; the clock must have been brought forward. */
    List<Share> thatCount(Siblings siblings) {
        dropSettled(siblings);
        return sorted(present.stream().filter(share -> !isSettled(share, siblings)));
    }

    /** Like {@link #thatCount}, and also nodes that owe nothing: every node that {@link ShareTree} may forget is here. */
    List<Share> inOrder() {
        return sorted(present.stream());
    }

    private static List<Share> sorted(Stream<Share> shares) {
        return shares.sorted(Comparator.comparingLong(share -> share.ordinal)).toList();
    }

    private static final class LongestQueueFirst implements ShareHeap.Order {
        @Override
        public boolean precedes(Share a, Share b) {
            int order = Double.compare(a.waiting / a.weight(), b.waiting / b.weight());
            return order > 0 || (order == 0 && a.ordinal < b.ordinal);
        }

        @Override
        public int place(Share share) {
            return share.placeByQueue;
        }

        @Override
        public void setPlace(Share share, int index) {
            share.placeByQueue = index;
        }
    }
}
