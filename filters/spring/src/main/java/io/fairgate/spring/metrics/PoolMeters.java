package io.fairgate.spring.metrics;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.policy.PolicyHolder;

/** Counts and times the events of one pool. */
record PoolMeters(String pool, FairgateMeters meters, PolicyHolder policy, UpstreamCounts upstream)
        implements PoolListener {

    @Override
    public void granted(PoolRequest request, long waitedNanos) {
        meters.of(pool, request.tenant()).waited("granted", waitedNanos);
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        String label = reason.label();
        TenantMeters own = meters.of(pool, request.tenant());
        own.waited(label, waitedNanos);
        own.refused(label, policy.current().enforcement().isOn(pool));
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        meters.of(pool, request.tenant()).waited("client-left", waitedNanos);
    }

    /** The refusal counts where the request is answered. */
    @Override
    public void lost(PoolRequest request, long waitedNanos) {
        meters.of(pool, request.tenant()).waited("backend-lost", waitedNanos);
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        double seconds = request.permits() * (heldNanos / 1e9);
        meters.of(pool, request.tenant()).held(heldNanos, seconds);
        meters.series().used(request.tenant(), seconds);
        upstream.held(heldNanos);
    }
}
