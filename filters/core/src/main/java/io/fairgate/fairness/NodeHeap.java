package io.fairgate.fairness;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A binary heap of nodes. Each node knows its place, so that a node in the middle can be moved and removed. */
final class NodeHeap {

    /** The order of a heap. A node is in at most one heap of each order. */
    enum Order {
        BY_KEY,
        BY_PART_OF_GUARANTEE,
        BY_COST,
        LONGEST_QUEUE_FIRST;

        boolean precedes(SchedulingNode a, SchedulingNode b) {
            return switch (this) {
                case BY_KEY -> RunQueue.precedes(a.filedKey, a, b.filedKey, b);
                case BY_PART_OF_GUARANTEE -> RunQueue.precedes(a.partOfGuarantee(), a, b.partOfGuarantee(), b);
                case BY_COST -> a.filedCost < b.filedCost;
                case LONGEST_QUEUE_FIRST -> {
                    int order = Double.compare(a.waiting / a.weight(), b.waiting / b.weight());
                    yield order > 0 || (order == 0 && a.ordinal < b.ordinal);
                }
            };
        }

        /** The index of the node in the heap of this order; -1 when it is not in such a heap. */
        int place(SchedulingNode node) {
            return switch (this) {
                case BY_KEY -> node.placeByKey;
                case BY_PART_OF_GUARANTEE -> node.placeByPartOfGuarantee;
                case BY_COST -> node.placeByCost;
                case LONGEST_QUEUE_FIRST -> node.placeByQueue;
            };
        }

        void setPlace(SchedulingNode node, int index) {
            switch (this) {
                case BY_KEY -> node.placeByKey = index;
                case BY_PART_OF_GUARANTEE -> node.placeByPartOfGuarantee = index;
                case BY_COST -> node.placeByCost = index;
                case LONGEST_QUEUE_FIRST -> node.placeByQueue = index;
            }
        }
    }

    private static final int OUTSIDE = -1;

    private final Order order;
    private @Nullable SchedulingNode[] nodes = new SchedulingNode[16];
    private int size;

    NodeHeap(Order order) {
        this.order = order;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    @Nullable
    SchedulingNode top() {
        return nodes[0];
    }

    void add(SchedulingNode node) {
        if (size == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * size);
        }
        put(size++, node);
        up(node);
    }

    void remove(SchedulingNode node) {
        int hole = order.place(node);
        SchedulingNode last = at(--size);
        nodes[size] = null;
        order.setPlace(node, OUTSIDE);
        if (last != node) {
            put(hole, last);
            moved(last);
        }
    }

    /** Adds, moves or removes a node that has changed. */
    void update(SchedulingNode node, boolean belongsHere) {
        boolean isHere = order.place(node) != OUTSIDE;
        if (belongsHere && isHere) {
            moved(node);
        } else if (belongsHere) {
            add(node);
        } else if (isHere) {
            remove(node);
        }
    }

    /** Moves a node whose order has changed to its new place. */
    void moved(SchedulingNode node) {
        up(node);
        down(node);
    }

    /** The first of the nodes that pass the test. Looks at all nodes. */
    @Nullable
    SchedulingNode firstOf(Predicate<SchedulingNode> test) {
        SchedulingNode first = null;
        for (int i = 0; i < size; i++) {
            SchedulingNode node = at(i);
            if (test.test(node) && (first == null || order.precedes(node, first))) {
                first = node;
            }
        }
        return first;
    }

    /** Restores the order after the keys of any nodes have changed. */
    void reorder() {
        for (int i = size / 2 - 1; i >= 0; i--) {
            down(at(i));
        }
    }

    void forEach(Consumer<SchedulingNode> action) {
        for (int i = 0; i < size; i++) {
            action.accept(at(i));
        }
    }

    private void up(SchedulingNode node) {
        int i = order.place(node);
        while (i > 0 && order.precedes(node, at((i - 1) / 2))) {
            put(i, at((i - 1) / 2));
            i = (i - 1) / 2;
        }
        put(i, node);
    }

    private void down(SchedulingNode node) {
        int i = order.place(node);
        for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && order.precedes(at(child + 1), at(child))) {
                child++;
            }
            if (!order.precedes(at(child), node)) {
                break;
            }
            put(i, at(child));
            i = child;
        }
        put(i, node);
    }

    private SchedulingNode at(int i) {
        return Objects.requireNonNull(nodes[i]);
    }

    private void put(int i, SchedulingNode node) {
        nodes[i] = node;
        order.setPlace(node, i);
    }
}
