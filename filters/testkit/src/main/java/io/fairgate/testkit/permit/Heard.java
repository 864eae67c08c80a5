package io.fairgate.testkit.permit;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What the listener of a pool was told. */
final class Heard implements PoolListener {

    final AtomicInteger granted = new AtomicInteger();
    final AtomicInteger released = new AtomicInteger();
    final AtomicInteger abandoned = new AtomicInteger();
    final Queue<RefusalReason> refused = new ConcurrentLinkedQueue<>();
    final Queue<Duration> holds = new ConcurrentLinkedQueue<>();
    final Queue<Duration> waits = new ConcurrentLinkedQueue<>();

    @Override
    public void granted(TenantId tenant, int permits, long waitedNanos) {
        granted.incrementAndGet();
        waits.add(Duration.ofNanos(waitedNanos));
    }

    @Override
    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
        refused.add(reason);
    }

    @Override
    public void abandoned(TenantId tenant, long waitedNanos) {
        abandoned.incrementAndGet();
    }

    @Override
    public void released(TenantId tenant, int permits, long heldNanos) {
        released.incrementAndGet();
        holds.add(Duration.ofNanos(heldNanos));
    }
}
