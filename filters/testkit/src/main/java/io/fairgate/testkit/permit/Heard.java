package io.fairgate.testkit.permit;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
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
    public void granted(PoolRequest request, long waitedNanos) {
        granted.incrementAndGet();
        waits.add(Duration.ofNanos(waitedNanos));
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        refused.add(reason);
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        abandoned.incrementAndGet();
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        released.incrementAndGet();
        holds.add(Duration.ofNanos(heldNanos));
    }
}
