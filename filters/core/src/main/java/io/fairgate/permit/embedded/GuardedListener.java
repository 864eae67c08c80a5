package io.fairgate.permit.embedded;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;

import io.fairgate.tenant.TenantId;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Keeps what a listener throws away from the permits: a broken meter must not cost a permit. */
record GuardedListener(PoolListener listener) implements PoolListener {

    @Override
    public void granted(TenantId tenant, int permits, long waitedNanos) {
        guard(() -> listener.granted(tenant, permits, waitedNanos));
    }

    @Override
    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
        guard(() -> listener.refused(tenant, reason, waitedNanos));
    }

    @Override
    public void abandoned(TenantId tenant, long waitedNanos) {
        guard(() -> listener.abandoned(tenant, waitedNanos));
    }

    @Override
    public void released(TenantId tenant, int permits, long heldNanos) {
        guard(() -> listener.released(tenant, permits, heldNanos));
    }

    static void guard(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            drop(e);
        }
    }

    /** To Reactor's hook for such errors; should that throw as well, nobody is left who could be told. */
    static void drop(Throwable bug) {
        try {
            Operators.onErrorDropped(bug, Context.empty());
        } catch (RuntimeException | Error broken) {
            bug.addSuppressed(broken);
        }
    }
}
