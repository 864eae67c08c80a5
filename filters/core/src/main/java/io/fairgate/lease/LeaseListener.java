package io.fairgate.lease;

import io.fairgate.permit.RefusalReason;
import java.time.Duration;

/**
 * Receives the events of leases, for meters and audit logs. Called on the thread on which the event happens, outside all
 * locks; must be quick, and must not block or throw.
 */
public interface LeaseListener {

    /** How a lease ends. */
    enum End {
        RELEASED,
        EXPIRED
    }

    /** The lease holds these permits of one pool from now on. */
    default void granted(LeaseStatus lease, LeaseStatus.Held permits) {}

    /** The lease holds again all permits that it held before a restart, although no pool of this process granted them. */
    default void restored(LeaseStatus lease) {}

    /** A pool refused the permits that the lease asked for. */
    default void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {}

    /** The lease lasts for {@code ttl} from now on. */
    default void extended(LeaseStatus lease, Duration ttl) {}

    /** The lease has released these permits of one pool and goes on without them. */
    default void released(LeaseStatus lease, LeaseStatus.Held permits) {}

    /** The lease has ended; {@code lease} is its status just before the end. */
    default void ended(LeaseStatus lease, End how) {}
}
