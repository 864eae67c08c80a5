package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.HeldPermits;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The state of an open lease. All of it is guarded by the lock of {@link OpenLeases}. */
final class OpenLease {

    final LeaseId id;
    final TenantId tenant;
    final String holder;
    final long maxHoldNanos;

    /** When it expires, by the clock of {@link Leases}, in nanoseconds. */
    long expiresAt;
    /** The expiry that the last extension promised to the holder: a grant does not make it earlier. */
    long extendedUntil;
    /** The end of the lease's maximum hold: no extension goes beyond. */
    long endsAt;
    /** Its place in {@link Expiries}. */
    int place = Expiries.NOWHERE;
    /** Grows with each lease that is opened; several leases can have the same id one after the other. */
    long serial;

    /** Its neighbours in {@link TenantLeases}. */
    @Nullable
    OpenLease before;

    @Nullable
    OpenLease behind;

    boolean isGone;
    /** Whether it was restored after a restart, with all of its permits counted by their pools. */
    boolean isRestored;
    /** Its permits, one entry for each pool, in the order of the grants; mostly one. */
    final List<Grant> grants = new ArrayList<>(1);

    @Nullable
    Demand waits;

    /**
     * Permits of one pool.
     *
     * @param token the fencing token of this grant
     * @param waitedNanos the time from the request to the grant
     * @param at when they were granted, by the clock of {@link Leases}, in nanoseconds
     */
    record Grant(String pool, HeldPermits permits, long token, long waitedNanos, long at) {}

    OpenLease(LeaseId id, TenantId tenant, String holder, LeaseTerm term, long now) {
        this.id = id;
        this.tenant = tenant;
        this.holder = holder;
        this.maxHoldNanos = term.maxHold().toNanos();
        this.endsAt = now + maxHoldNanos;
        this.extendedUntil = now;
        this.expiresAt = Math.min(now + term.ttl().toNanos(), endsAt);
    }

    @Nullable
    Grant of(String pool) {
        for (Grant grant : grants) {
            if (grant.pool.equals(pool)) {
                return grant;
            }
        }
        return null;
    }

    LeaseStatus status(LeaseStatus.@Nullable Waiting waiting, long now) {
        return new LeaseStatus(
                id,
                serial,
                tenant,
                holder,
                grants.stream()
                        .map(grant -> new LeaseStatus.Held(
                                grant.pool, grant.permits.permits(), grant.token, grant.waitedNanos, now - grant.at))
                        .toList(),
                waiting,
                Math.max(0, expiresAt - now));
    }
}
