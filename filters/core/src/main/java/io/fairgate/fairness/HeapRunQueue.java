package io.fairgate.fairness;

import io.fairgate.fairness.NodeHeap.Order;
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
 * <p><b>Promised</b> nodes, whose next request is within their guarantee, are ordered by the part of the guarantee that
 * they hold, which changes only with their own events.
 *
 * <p><b>Within a reservation</b> a grant costs the parent nothing and is made at once. So there are hardly ever such nodes,
 * and a list suffices.
 *
 * <p><b>By cost</b>: this heap is built when {@link #leastCost} is first called, which happens only for the children of a
 * group, or of a tenant with classes. A pool without them does not pay for it.
 */
final class HeapRunQueue implements RunQueue {

    private final NodeHeap byKey = new NodeHeap(Order.BY_KEY);
    private final NodeHeap promised = new NodeHeap(Order.BY_PART_OF_GUARANTEE);
    private final NodeHeap byCost = new NodeHeap(Order.BY_COST);
    private boolean isCostAsked;
    private final List<SchedulingNode> withinReservation = new ArrayList<>();

    private long gain;
    private Accounts all = new Accounts(0);
    /** The sums over the nodes of {@link #all} that compete by their keys. */
    private Accounts byTheirKeys = new Accounts(0);

    @Override
    public void add(SchedulingNode node, long contendedNow) {
        node.filedKey = node.key(contendedNow, gain);
        byKey.add(node);
        count(node, 1, contendedNow);
        refile(node);
    }

    @Override
    public void remove(SchedulingNode node, long contendedNow) {
        count(node, -1, contendedNow);
        byKey.remove(node);
        promised.update(node, false);
        byCost.update(node, false);
        withinReservation.remove(node);
    }

    @Override
    public void beforeChange(SchedulingNode node, long contendedNow) {
        count(node, -1, contendedNow);
    }

    @Override
    public void afterChange(SchedulingNode node, long contendedNow) {
        count(node, 1, contendedNow);
        node.filedKey = node.key(contendedNow, gain);
        byKey.moved(node);
        refile(node);
    }

    @Override
    public void afterChangeOfAll(long contendedNow, long gain) {
        this.gain = gain;
        all = new Accounts(contendedNow);
        byTheirKeys = new Accounts(contendedNow);
        byKey.forEach(node -> {
            count(node, 1, contendedNow);
            node.filedKey = node.key(contendedNow, gain);
        });
        byKey.reorder();
        promised.reorder();
        withinReservation.clear();
        byKey.forEach(this::refile);
    }

    private void count(SchedulingNode node, int sign, long contendedNow) {
        all.count(node, sign, contendedNow);
        if (!node.isServedFirst) {
            byTheirKeys.count(node, sign, contendedNow);
        }
    }

    /** Adds, moves or removes the node in the heap of promised nodes, the list of reservations and the heap by cost. */
    private void refile(SchedulingNode node) {
        promised.update(node, node.isPromised());
        if (node.keeps() > 0) {
            withinReservation.remove(node);
            if (node.leastCost() == 0) {
                withinReservation.add(node);
            }
        }
        if (isCostAsked) {
            fileByCost(node);
        }
    }

    @Override
    public void afterChangeOfQueue(SchedulingNode node) {
        refile(node);
    }

    private void fileByCost(SchedulingNode node) {
        node.filedCost = node.leastCost();
        byCost.update(node, true);
    }

    @Override
    public long leastCost() {
        if (!isCostAsked) {
            isCostAsked = true;
            byKey.forEach(this::fileByCost);
        }
        return Objects.requireNonNull(byCost.top(), "a node is backlogged").filedCost;
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
    public double virtualTime(long contendedNow) {
        return (byTheirKeys.weightUnits > 0 ? byTheirKeys : all).mean(contendedNow);
    }

    @Override
    public long weightUnits() {
        return all.weightUnits;
    }

    @Override
    public @Nullable SchedulingNode firstWithinReservation(long contendedNow, Predicate<SchedulingNode> test) {
        SchedulingNode first = null;
        for (SchedulingNode node : withinReservation) {
            if (test.test(node)
                    && (first == null
                            || RunQueue.precedes(
                                    node.key(contendedNow, gain), node, first.key(contendedNow, gain), first))) {
                first = node;
            }
        }
        return first;
    }

    @Override
    public @Nullable SchedulingNode mostUrgent() {
        return promised.top();
    }

    @Override
    public @Nullable SchedulingNode mostUrgentOf(Predicate<SchedulingNode> test) {
        return promised.firstOf(test);
    }

    @Override
    public @Nullable SchedulingNode first(long contendedNow) {
        for (SchedulingNode top = byKey.top(); top != null; top = byKey.top()) {
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
        /** The sum of the nodes' permit-time at {@link #chargedUntil}; it grows by {@link #rate} from then on. */
        private long permitTime;

        private long rate;
        private long chargedUntil;

        Accounts(long contendedNow) {
            chargedUntil = contendedNow;
        }

        void count(SchedulingNode node, int sign, long contendedNow) {
            weightUnits += sign * node.weightUnits;
            permitTime = permitTime(contendedNow) + sign * node.permitTime(contendedNow);
            chargedUntil = contendedNow;
            rate += sign * node.rate();
        }

        double mean(long contendedNow) {
            return (double) permitTime(contendedNow) / weightUnits;
        }

        private long permitTime(long contendedNow) {
            return permitTime + rate * (contendedNow - chargedUntil);
        }
    }
}
