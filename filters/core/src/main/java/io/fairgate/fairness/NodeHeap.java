package io.fairgate.fairness;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A binary heap of siblings. Each node knows its place, so that a node in the middle can be moved and removed. */
final class NodeHeap {

    /** The order of a heap, and the field of a node that holds its place in the heap. */
    interface Order {
        boolean precedes(SchedulingNode a, SchedulingNode b);

        /** The index of the node in the heap; -1 when it is not in the heap. */
        int place(SchedulingNode node);

        void setPlace(SchedulingNode node, int index);
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

    boolean contains(SchedulingNode node) {
        return order.place(node) != OUTSIDE;
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

    /** Moves a node whose order has changed to its new place. */
    void moved(SchedulingNode node) {
        up(node);
        down(node);
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
        SchedulingNode node = nodes[i];
        if (node == null) {
            throw new IllegalStateException("no node at %d of %d".formatted(i, size));
        }
        return node;
    }

    private void put(int i, SchedulingNode node) {
        nodes[i] = node;
        order.setPlace(node, i);
    }
}
