package io.fairgate.permit;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the outcomes of the requests of a pool: pass it to the pool as its listener. For the present state of the pool,
 * tenant by tenant, see {@link PermitPool#snapshot}. Any thread may read it at any time; each figure is exact, but they may
 * be of different moments.
 */
public final class PoolStatistics implements PoolListener {

    private final LongAdder granted = new LongAdder();
    private final LongAdder released = new LongAdder();
    private final LongAdder abandoned = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder heldPermitNanos = new LongAdder();
    private final Map<RefusalReason, LongAdder> refused = new ConcurrentHashMap<>();

    @Override
    public void granted(PoolRequest request, long waitedNanos) {
        granted.increment();
        this.waitedNanos.add(waitedNanos);
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        adder(reason).increment();
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        abandoned.increment();
    }

    @Override
    public void lost(PoolRequest request, long waitedNanos) {
        lost.increment();
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        released.increment();
        heldPermitNanos.add(request.permits() * heldNanos);
    }

    private LongAdder adder(RefusalReason reason) {
        return refused.computeIfAbsent(reason, first -> new LongAdder());
    }

    /** Requests that were granted their permits. */
    public long granted() {
        return granted.sum();
    }

    /** Requests that have released their permits. */
    public long released() {
        return released.sum();
    }

    /** Requests whose subscriber cancelled before the work started. */
    public long abandoned() {
        return abandoned.sum();
    }

    /** Requests that errored because the backend of the pool could not be reached. */
    public long lost() {
        return lost.sum();
    }

    /** Requests that were refused for {@code reason}. */
    public long refused(RefusalReason reason) {
        return adder(reason).sum();
    }

    /** The sum of the waits of all granted requests. */
    public Duration waited() {
        return Duration.ofNanos(waitedNanos.sum());
    }

    /** The permit-time of all holds that have ended: permits times how long they were held. */
    public Duration heldPermitTime() {
        return Duration.ofNanos(heldPermitNanos.sum());
    }
}
