package io.fairgate.fairness;

import org.jspecify.annotations.Nullable;

/** The waiting claims of one leaf, first come, first served: a doubly linked list through the claims themselves. */
final class ClaimQueue {

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

    /** The sum of the permits that the waiting claims ask for. */
    long permits() {
        return permits;
    }

    void append(QueuedRequest claim) {
        claim.previous = tail;
        if (tail == null) {
            head = claim;
        } else {
            tail.next = claim;
        }
        tail = claim;
        permits += claim.permits();
    }

    void remove(QueuedRequest claim) {
        QueuedRequest before = claim.previous;
        QueuedRequest after = claim.next;
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
        claim.previous = null;
        claim.next = null;
        permits -= claim.permits();
    }
}
