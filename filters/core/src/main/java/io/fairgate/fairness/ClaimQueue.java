package io.fairgate.fairness;

import org.jspecify.annotations.Nullable;

/** The waiting claims of one leaf, first come, first served: a doubly linked list through the claims themselves. */
final class ClaimQueue {

    private @Nullable Claim head;
    private @Nullable Claim tail;
    private long permits;

    @Nullable
    Claim head() {
        return head;
    }

    @Nullable
    Claim newest() {
        return tail;
    }

    /** The sum of the permits that the waiting claims ask for. */
    long permits() {
        return permits;
    }

    void append(Claim claim) {
        claim.previous = tail;
        if (tail == null) {
            head = claim;
        } else {
            tail.next = claim;
        }
        tail = claim;
        permits += claim.permits();
    }

    void remove(Claim claim) {
        Claim before = claim.previous;
        Claim after = claim.next;
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
