package io.fairgate.lease.embedded;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Leases by their expiry: a binary heap in which each lease knows its place, so that an extension takes at most as many steps
 * as the heap is deep. Not thread-safe.
 */
final class Expiries {

    /** The place of a lease that is not in here. */
    static final int NOWHERE = -1;

    private static final int FEW = 16;

    private @Nullable OpenLease[] heap = new OpenLease[FEW];
    private int size;

    /** The lease that expires first; null when there is none. */
    @Nullable
    OpenLease first() {
        return heap[0];
    }

    /** Adds the lease, or moves it to the place of its present expiry. */
    void set(OpenLease lease) {
        if (lease.place == NOWHERE) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            up(size++, lease);
        } else {
            int before = lease.place;
            up(before, lease);
            if (lease.place == before) {
                down(before, lease);
            }
        }
    }

    void remove(OpenLease lease) {
        int at = lease.place;
        if (at == NOWHERE) {
            return;
        }
        lease.place = NOWHERE;
        OpenLease last = heap[--size];
        heap[size] = null;
        if (last != null && last != lease) {
            up(at, last);
            if (last.place == at) {
                down(at, last);
            }
        }
        if (heap.length > FEW && size < heap.length / 4) {
            heap = Arrays.copyOf(heap, heap.length / 2);
        }
    }

    private void up(int from, OpenLease lease) {
        int at = from;
        while (at > 0) {
            OpenLease above = heap[(at - 1) / 2];
            if (above == null || above.expiresAt <= lease.expiresAt) {
                break;
            }
            put(at, above);
            at = (at - 1) / 2;
        }
        put(at, lease);
    }

    private void down(int from, OpenLease lease) {
        int at = from;
        for (int first = 2 * at + 1; first < size; first = 2 * at + 1) {
            OpenLease left = heap[first];
            OpenLease right = first + 1 < size ? heap[first + 1] : null;
            boolean takesRight = right != null && left != null && right.expiresAt < left.expiresAt;
            OpenLease earlier = takesRight ? right : left;
            if (earlier == null || earlier.expiresAt >= lease.expiresAt) {
                break;
            }
            put(at, earlier);
            at = takesRight ? first + 1 : first;
        }
        put(at, lease);
    }

    private void put(int at, OpenLease lease) {
        heap[at] = lease;
        lease.place = at;
    }
}
