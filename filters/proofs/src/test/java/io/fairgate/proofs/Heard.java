package io.fairgate.proofs;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
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
    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
        notServed.incrementAndGet();
    }

    @Override
    public void abandoned(TenantId tenant, long waitedNanos) {
        notServed.incrementAndGet();
    }

    @Override
    public void released(TenantId tenant, int permits, long heldNanos) {
        released.incrementAndGet();
    }
}
