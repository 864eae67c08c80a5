package io.fairgate.permit.embedded;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Catches what a listener throws, so that a broken meter does not cost a permit. */
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

    /** Passes the error to Reactor's hook for dropped errors; if the hook throws as well, the error is lost. */
    static void drop(Throwable bug) {
        try {
            Operators.onErrorDropped(bug, Context.empty());
        } catch (RuntimeException | Error broken) {
            bug.addSuppressed(broken);
        }
    }
}
