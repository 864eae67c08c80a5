package io.fairgate.fairness;

import org.jspecify.annotations.Nullable;

/** The waiting requests of one leaf, first come, first served: a doubly linked list through the requests themselves. */
final class LeafQueue {

    private @Nullable QueuedRequest head;
    private @Nullable QueuedRequest tail;
    private long permits;

    @Nullable
    QueuedRequest head() {
        return head;
    }

    @Nullable
    QueuedRequest newest() {
        return tail;
    }

    /** The sum of the permits that the waiting requests ask for. */
    long permits() {
        return permits;
    }

    void append(QueuedRequest request) {
        request.previous = tail;
        if (tail == null) {
            head = request;
        } else {
            tail.next = request;
        }
        tail = request;
        permits += request.permits();
    }

    void remove(QueuedRequest request) {
        QueuedRequest before = request.previous;
        QueuedRequest after = request.next;
        if (before == null) {
            head = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            tail = before;
        } else {
            after.previous = before;
        }
        request.previous = null;
        request.next = null;
        permits -= request.permits();
    }
}
