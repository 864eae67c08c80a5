package io.fairgate.permit.embedded;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.PermitPool;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what becomes of the requests of a pool: hand it to the pool as its listener. How the pool stands now, tenant by
 * tenant, is {@link PermitPool#snapshot}. May be read by any thread at any time; the figures are each exact, and need not
 * be of the same moment.
 */
public final class PoolStatistics implements PoolListener {

    private final LongAdder granted = new LongAdder();
    private final LongAdder released = new LongAdder();
    private final LongAdder abandoned = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder heldPermitNanos = new LongAdder();
    private final Map<RefusalReason, LongAdder> refused = new EnumMap<>(RefusalReason.class);

    /** All counts are zero. */
    public PoolStatistics() {
        for (RefusalReason reason : RefusalReason.values()) {
            refused.put(reason, new LongAdder());
        }
    }

    @Override
    public void granted(TenantId tenant, int permits, long waitedNanos) {
        granted.increment();
        this.waitedNanos.add(waitedNanos);
    }

    @Override
    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
        adder(reason).increment();
    }

    @Override
    public void abandoned(TenantId tenant, long waitedNanos) {
        abandoned.increment();
    }

    @Override
    public void released(TenantId tenant, int permits, long heldNanos) {
        released.increment();
        heldPermitNanos.add(permits * heldNanos);
    }

    private LongAdder adder(RefusalReason reason) {
        return java.util.Objects.requireNonNull(refused.get(reason));
    }

    /** Requests that were granted their permits. */
    public long granted() {
        return granted.sum();
    }

    /** Requests that have given them back. */
    public long released() {
        return released.sum();
    }

    /** Requests whose subscriber left before they began. */
    public long abandoned() {
        return abandoned.sum();
    }

    /** Requests that were refused for that reason. */
    public long refused(RefusalReason reason) {
        return adder(reason).sum();
    }

    /** How long the granted ones have waited, together. */
    public Duration waited() {
        return Duration.ofNanos(waitedNanos.sum());
    }

    /** Permit-time of all holds that have ended: permits times how long they were held. */
    public Duration heldPermitTime() {
        return Duration.ofNanos(heldPermitNanos.sum());
    }
}
