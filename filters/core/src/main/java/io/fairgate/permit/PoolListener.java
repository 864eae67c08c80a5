package io.fairgate.permit;

import io.fairgate.tenant.TenantId;

/**
 * Is told what becomes of every request, for meters. Called outside the pool's own loops, on the thread on which it
 * happens; must be quick, and must not block or throw (what it throws is dropped into Reactor's error hook).
 */
public interface PoolListener {

    /** Listens to nothing. */
    PoolListener NONE = new PoolListener() {};

    /** Granted after that long; the work starts now. */
    default void granted(TenantId tenant, int permits, long waitedNanos) {}

    /** Refused after that long. */
    default void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {}

    /** Its subscriber cancelled after that long, before the work started. */
    default void abandoned(TenantId tenant, long waitedNanos) {}

    /** Gave its permits back after having held them for that long. */
    default void released(TenantId tenant, int permits, long heldNanos) {}
}
