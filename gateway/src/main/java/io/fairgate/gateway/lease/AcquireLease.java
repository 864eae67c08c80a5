package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.LeaseAuditLog.Subject;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request for a lease.
 *
 * @param permits by the name of the pool
 * @param ttl as requested, before any bound is applied
 * @param maxWait how long the call may wait for the permits, before any bound is applied
 * @param holder the label that the holder gives itself; may be empty
 */
record AcquireLease(
        Caller caller, LeaseId id, Map<String, Integer> permits, Duration ttl, Duration maxWait, String holder) {
    AcquireLease {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
    }

    /** The tenant id that the request named. */
    TenantId owner() {
        return caller.named();
    }

    /** The tenant that the permits are counted for. */
    TenantId tenant() {
        return caller.tenant().id();
    }

    LeaseHolder leaseHolder() {
        return new LeaseHolder(tenant(), owner(), holder);
    }

    Subject subject() {
        return new Subject(holder, id, permits);
    }
}
