package io.fairgate.proofs;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the events of the pool: a duplicate event leaves no other trace. */
final class Heard implements PoolListener {

    private final AtomicInteger released = new AtomicInteger();
    private final AtomicInteger notServed = new AtomicInteger();

    int released() {
        return released.get();
    }

    /** Requests that were refused, or cancelled before their grant. */
    int notServed() {
        return notServed.get();
    }

    void forget() {
        released.set(0);
        notServed.set(0);
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        notServed.incrementAndGet();
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        notServed.incrementAndGet();
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        released.incrementAndGet();
    }
}
