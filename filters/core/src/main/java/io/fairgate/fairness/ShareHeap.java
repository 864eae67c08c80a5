package io.fairgate.fairness;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A binary heap of siblings. Each node knows its place, so that a node in the middle can be moved and removed. */
final class ShareHeap {

    /** The order of a heap, and the field of a node that holds its place in the heap. */
    interface Order {
        boolean precedes(Share a, Share b);

        /** The index of the node in the heap; -1 when it is not in the heap. */
        int place(Share share);

        void setPlace(Share share, int index);
    }

    private static final int OUTSIDE = -1;

    private final Order order;
    private @Nullable Share[] shares = new Share[16];
    private int size;

    ShareHeap(Order order) {
        this.order = order;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean contains(Share share) {
        return order.place(share) != OUTSIDE;
    }

    @Nullable
    Share top() {
        return shares[0];
    }

    void add(Share share) {
        if (size == shares.length) {
            shares = Arrays.copyOf(shares, 2 * size);
        }
        put(size++, share);
        up(share);
    }

    void remove(Share share) {
        int hole = order.place(share);
        Share last = at(--size);
        shares[size] = null;
        order.setPlace(share, OUTSIDE);
        if (last != share) {
            put(hole, last);
            moved(last);
        }
    }

    /** Moves a node whose order has changed to its new place. */
    void moved(Share share) {
        up(share);
        down(share);
    }

    /** Restores the order after the keys of any nodes have changed. */
    void reorder() {
        for (int i = size / 2 - 1; i >= 0; i--) {
            down(at(i));
        }
    }

    void forEach(Consumer<Share> action) {
        for (int i = 0; i < size; i++) {
            action.accept(at(i));
        }
    }

    private void up(Share share) {
        int i = order.place(share);
        while (i > 0 && order.precedes(share, at((i - 1) / 2))) {
            put(i, at((i - 1) / 2));
            i = (i - 1) / 2;
        }
        put(i, share);
    }

    private void down(Share share) {
        int i = order.place(share);
        for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && order.precedes(at(child + 1), at(child))) {
                child++;
            }
            if (!order.precedes(at(child), share)) {
                break;
            }
            put(i, at(child));
            i = child;
        }
        put(i, share);
    }

    private Share at(int i) {
        Share share = shares[i];
        if (share == null) {
            throw new IllegalStateException("no node at %d of %d".formatted(i, size));
        }
        return share;
    }

    private void put(int i, Share share) {
        shares[i] = share;
        order.setPlace(share, i);
    }
}
