package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A run queue made of heaps: finding the next node takes time in proportion to the logarithm of the number of nodes.
 *
 * <p><b>By key, lazily.</b> Between its own events the key of a node only grows, so all keys change all the time without an
 * event. The heap is ordered by the filed keys: the keys at the last look. The true keys are not smaller. So when the true
 * key of the top equals its filed key, the top comes first; otherwise it is filed under its true key, and the new top is
 * examined.
 *
 * <p><b>Promised</b> nodes, whose next claim is within their guarantee, are ordered by the part of the guarantee that they
 * hold, which changes only with their own events.
 *
 * <p><b>Within a reservation</b> a grant costs the parent nothing and is made at once. So there are hardly ever such nodes,
 * and a list suffices.
 *
 * <p><b>By cost</b>: this heap is built when {@link #leastCost} is first called, which happens only for the children of a
 * group, or of a tenant with classes. A pool without them does not pay for it.
 */
final class HeapBacklog implements Backlog {

    private final ShareHeap byKey = new ShareHeap(new ByFiledKey());
    private final ShareHeap promised = new ShareHeap(new ByPartOfGuarantee());
    private final ShareHeap byCost = new ShareHeap(new ByFiledCost());
    private boolean isCostAsked;
    private final List<Share> withinReservation = new ArrayList<>();

    private long gain;
    private final Accounts all = new Accounts();
    /** The sums over the nodes of {@link #all} that compete by their keys. */
    private final Accounts byTheirKeys = new Accounts();

    @Override
    public void add(Share share, long contendedNow) {
        share.filedKey = share.key(contendedNow, gain);
        byKey.add(share);
        count(share, 1, contendedNow);
        refile(share);
    }

    @Override
    public void remove(Share share, long contendedNow) {
        count(share, -1, contendedNow);
        byKey.remove(share);
        if (promised.contains(share)) {
            promised.remove(share);
        }
        withinReservation.remove(share);
        if (isCostAsked) {
            byCost.remove(share);
        }
    }

    @Override
    public void beforeChange(Share share, long contendedNow) {
        count(share, -1, contendedNow);
    }

    @Override
    public void afterChange(Share share, long contendedNow) {
        count(share, 1, contendedNow);
        share.filedKey = share.key(contendedNow, gain);
        byKey.moved(share);
        refile(share);
    }

    @Override
    public void afterChangeOfAll(long contendedNow, long gain) {
        this.gain = gain;
        all.clear(contendedNow);
        byTheirKeys.clear(contendedNow);
        byKey.forEach(share -> {
            count(share, 1, contendedNow);
            share.filedKey = share.key(contendedNow, gain);
        });
        byKey.reorder();
        promised.reorder();
        withinReservation.clear();
        byKey.forEach(this::refile);
    }

    private void count(Share share, int sign, long contendedNow) {
        all.count(share, sign, contendedNow);
        if (!share.isServedFirst) {
            byTheirKeys.count(share, sign, contendedNow);
        }
    }

    /** Adds, moves or removes the node in the heap of promised nodes, the list of reservations and the heap by cost. */
    private void refile(Share share) {
        boolean isPromised = share.isPromised();
        if (isPromised && promised.contains(share)) {
            promised.moved(share);
        } else if (isPromised) {
            promised.add(share);
        } else if (promised.contains(share)) {
            promised.remove(share);
        }
        if (share.keeps() > 0) {
            withinReservation.remove(share);
            if (share.leastCost() == 0) {
                withinReservation.add(share);
            }
        }
        if (isCostAsked) {
            fileByCost(share);
        }
    }

    @Override
    public void afterChangeOfQueue(Share share) {
        refile(share);
    }

    private void fileByCost(Share share) {
        share.filedCost = share.leastCost();
        if (byCost.contains(share)) {
            byCost.moved(share);
        } else {
            byCost.add(share);
        }
    }

    @Override
    public long leastCost() {
        if (!isCostAsked) {
            isCostAsked = true;
            byKey.forEach(this::fileByCost);
        }
        return Objects.requireNonNull(byCost.top(), "somebody is backlogged").filedCost;
    }

    @Override
    public boolean isEmpty() {
        return byKey.isEmpty();
    }

    @Override
    public int size() {
        return byKey.size();
    }

    @Override
    public double level(long contendedNow) {
        return (byTheirKeys.weightUnits > 0 ? byTheirKeys : all).mean(contendedNow);
    }

    @Override
    public long weightUnits() {
        return all.weightUnits;
    }

    @Override
    public @Nullable Share firstWithinReservation(long contendedNow, Predicate<Share> test) {
        Share first = null;
        for (Share share : withinReservation) {
            if (test.test(share)
                    && (first == null
                            || Backlog.precedes(
                                    share.key(contendedNow, gain), share, first.key(contendedNow, gain), first))) {
                first = share;
            }
        }
        return first;
    }

    @Override
    public @Nullable Share mostUrgent() {
        return promised.top();
    }

    @Override
    public @Nullable Share mostUrgentOf(Predicate<Share> test) {
        @Nullable Share[] first = new Share[1];
        promised.forEach(share -> {
            Share best = first[0];
            if (test.test(share)
                    && (best == null
                            || Backlog.precedes(share.partOfGuarantee(), share, best.partOfGuarantee(), best))) {
                first[0] = share;
            }
        });
        return first[0];
    }

    @Override
    public @Nullable Share first(long contendedNow) {
        for (Share top = byKey.top(); top != null; top = byKey.top()) {
            double key = top.key(contendedNow, gain);
            if (key <= top.filedKey) {
                return top;
            }
            top.filedKey = key;
            byKey.moved(top);
        }
        return null;
    }

    /** Sums of accounts and weights; the sum of the accounts grows by itself as the contended clock runs. */
    private static final class Accounts {
        private long weightUnits;
        /** The sum of what the nodes were served at {@link #servedAt}; it grows by {@link #rate} from then on. */
        private long served;

        private long rate;
        private long servedAt;

        void clear(long contendedNow) {
            weightUnits = 0;
            served = 0;
            rate = 0;
            servedAt = contendedNow;
        }

        void count(Share share, int sign, long contendedNow) {
            weightUnits += sign * share.weightUnits();
            served = served(contendedNow) + sign * share.served(contendedNow);
            servedAt = contendedNow;
            rate += sign * share.rate();
        }

        double mean(long contendedNow) {
            return (double) served(contendedNow) / weightUnits;
        }

        private long served(long contendedNow) {
            return served + rate * (contendedNow - servedAt);
        }
    }

    private static final class ByFiledKey implements ShareHeap.Order {
        @Override
        public boolean precedes(Share a, Share b) {
            return Backlog.precedes(a.filedKey, a, b.filedKey, b);
        }

        @Override
        public int place(Share share) {
            return share.placeByKey;
        }

        @Override
        public void setPlace(Share share, int index) {
            share.placeByKey = index;
        }
    }

    private static final class ByPartOfGuarantee implements ShareHeap.Order {
        @Override
        public boolean precedes(Share a, Share b) {
            return Backlog.precedes(a.partOfGuarantee(), a, b.partOfGuarantee(), b);
        }

        @Override
        public int place(Share share) {
            return share.placeAmongPromised;
        }

        @Override
        public void setPlace(Share share, int index) {
            share.placeAmongPromised = index;
        }
    }

    private static final class ByFiledCost implements ShareHeap.Order {
        @Override
        public boolean precedes(Share a, Share b) {
            return a.filedCost < b.filedCost;
        }

        @Override
        public int place(Share share) {
            return share.placeByCost;
        }

        @Override
        public void setPlace(Share share, int index) {
            share.placeByCost = index;
        }
    }
}
