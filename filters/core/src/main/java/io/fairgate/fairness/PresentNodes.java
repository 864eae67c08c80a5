package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes below one parent that hold permits, wait for some, or are idle and still owe, so that no step has to look at
 * the others: there may be many thousands of configured tenants of which a few are active.
 *
 * <p>Nodes with waiting claims are in a heap by the length of their queue per weight, which changes only with their own
 * events. An idle node that owes is dropped at the first look after it owes nothing; one that is not configured stays
 * until the tree forgets it, so that the tree finds it here.
 */
final class PresentNodes {

    private static final int ABSENT = -1;

    private final List<Share> present = new ArrayList<>();
    private final ShareHeap byQueue = new ShareHeap(new LongestQueueFirst());

    // ---- events of one node ----

    /** It comes to these siblings with what it holds and wants. */
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

    /** It is about to hold or want something. */
    void wake(Share share) {
        if (share.placeAmongPresent == ABSENT) {
            share.placeAmongPresent = present.size();
            present.add(share);
        }
    }

    /** It holds and wants nothing any more. */
    void noteIdle(Share share, boolean owes) {
        if (share.configured && !owes) {
            drop(share);
        }
    }

    /** After another claim waits at it or below it, or one waits no more. */
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

    // ---- a change of all ----

    /** Settings and counts of all may have changed; each of them may owe. */
    void rebuild(Collection<Share> all) {
        all.forEach(share -> {
            wake(share);
            queueChanged(share);
        });
    }

    /** Drops those that are idle and owe nothing. */
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

    // ---- looking ----

    /** The one with the longest queue per weight, the oldest of those that tie; null when nothing waits. */
    @Nullable
    Share longestQueue() {
        return byQueue.top();
    }

    /** All that hold, wait or owe, in the order in which they came to be known; the clock must have been brought forward. */
    List<Share> thatCount(Siblings siblings) {
        dropSettled(siblings);
        return sorted(present.stream().filter(share -> !isSettled(share, siblings)));
    }

    /** The same and some that owe nothing; all that may be forgotten are among these. */
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
