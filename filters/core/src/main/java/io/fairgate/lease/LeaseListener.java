package io.fairgate.lease;

import io.fairgate.permit.RefusalReason;
import java.time.Duration;

/**
 * Is told what becomes of leases, for meters and audit logs. Called on the thread on which it happens, outside all locks;
 * must be quick, and must not block or throw.
 */
public interface LeaseListener {

    /** Listens to nothing. */
    LeaseListener NONE = new LeaseListener() {};

    /** How a lease ends. */
    enum End {
        RELEASED,
        EXPIRED
    }

    /** It holds the permits of this pool from now on. */
    default void granted(LeaseStatus lease, LeaseStatus.Held permits) {}

    /** It holds all that it held before a restart, though no pool has granted it that. */
    default void restored(LeaseStatus lease) {}

    /** It will not get these permits. */
    default void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {}

    /** It lasts for that long from now on. */
    default void extended(LeaseStatus lease, Duration ttl) {}

    /** It is over; the status is how it stood before. */
    default void ended(LeaseStatus lease, End how) {}

    /** It holds on, without these permits. */
    default void gaveBack(LeaseStatus lease, LeaseStatus.Held permits) {}
}
