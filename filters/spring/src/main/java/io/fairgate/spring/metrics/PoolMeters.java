package io.fairgate.spring.metrics;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;

/** Counts and times the events of one pool. */
record PoolMeters(String pool, FairgateMeters meters, PolicyHolder policy) implements PoolListener {

    @Override
    public void granted(TenantId tenant, int permits, long waitedNanos) {
        meters.of(pool, tenant).waited("granted", waitedNanos);
    }

    @Override
    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
        String label = reason.label();
        TenantMeters own = meters.of(pool, tenant);
        own.waited(label, waitedNanos);
        own.refused(label, policy.current().enforcement().isOn(pool));
    }

    @Override
    public void abandoned(TenantId tenant, long waitedNanos) {
        meters.of(pool, tenant).waited("client-left", waitedNanos);
    }

    /** The refusal counts where the request is answered. */
    @Override
    public void lost(TenantId tenant, long waitedNanos) {
        meters.of(pool, tenant).waited("backend-lost", waitedNanos);
    }

    @Override
    public void released(TenantId tenant, int permits, long heldNanos) {
        double seconds = permits * (heldNanos / 1e9);
        meters.of(pool, tenant).held(heldNanos, seconds);
        meters.series().used(tenant, seconds);
    }
}
