package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The state of an open lease. All of it is guarded by the lock of {@link LeaseLedger}. */
final class OpenLease {

    final LeaseId id;
    // The parts of its holder: one object less for each of many leases.
    final TenantId tenant;
    private final TenantId owner;
    private final String holder;
    final long maxHoldNanos;
    /** How long its id is remembered after its end, in milliseconds. */
    private long rememberedMillis;

    /** When it expires, by the clock of the ledger, in nanoseconds. Only the ledger changes it. */
    long expiresAt;
    /** The expiry that the last extension promised to the holder: a grant does not make it earlier. */
    long extendedUntil;
    /** The end of the lease's maximum hold: no extension goes beyond. */
    long endsAt;
    /** Grows with each lease that is opened; several leases can have the same id one after the other. */
    long serial;

    /** Its place in the list of its tenant's leases. */
    int place;

    boolean isGone;
    /** Its permits, one entry for each pool, in the order of the grants; mostly one, for which an immutable list is smallest. */
    List<Grant> grants = List.of();

    @Nullable
    LeaseAcquisition waiting;

    /**
     * Permits of one pool.
     *
     * @param token the fencing token of this grant
     * @param waitedNanos the time from the request to the grant
     * @param at when they were granted, by the clock of the ledger, in nanoseconds
     */
    record Grant(String pool, HeldPermits permits, long token, long waitedNanos, long at) {}

    OpenLease(LeaseId id, LeaseHolder holder, LeaseTerm term, long now) {
        this.id = id;
        this.tenant = holder.tenant();
        this.owner = holder.owner();
        this.holder = holder.name();
        this.rememberedMillis = term.remembered().toMillis();
        this.maxHoldNanos = term.maxHold().toNanos();
        this.endsAt = now + maxHoldNanos;
        this.extendedUntil = now;
        this.expiresAt = Math.min(now + term.ttl().toNanos(), endsAt);
    }

    /** How long its id is kept when it ends now: not at all when it neither holds nor waits for permits. */
    Duration remembered() {
        return grants.isEmpty() && waiting == null ? Duration.ZERO : Duration.ofMillis(rememberedMillis);
    }

    /** Its id is free after its end. */
    void forget() {
        rememberedMillis = 0;
    }

    @Nullable
    Grant grantOf(String pool) {
        for (Grant grant : grants) {
            if (grant.pool.equals(pool)) {
                return grant;
            }
        }
        return null;
    }

    /**
     * A request to a pool. Its wait and hold are the longest, because the lease bounds both. The grant is processed on the
     * thread that released the permits, so that a caller that looks after its release sees the lease that got them.
     */
    PermitRequest permitRequest(int permits) {
        return PermitRequest.of(tenant)
                .withEventLoop(Runnable::run)
                .withPermits(permits)
                .withMaxWait(LeaseTerm.LONGEST)
                .withMaxHold(LeaseTerm.LONGEST);
    }

    LeaseStatus status(LeaseStatus.@Nullable Waiting queued, long now) {
        return new LeaseStatus(
                id,
                serial,
                new LeaseHolder(tenant, owner, holder),
                grants.stream()
                        .map(grant -> new LeaseStatus.Held(
                                grant.pool, grant.permits.permits(), grant.token, grant.waitedNanos, now - grant.at))
                        .toList(),
                queued,
                Math.max(0, expiresAt - now));
    }
}
