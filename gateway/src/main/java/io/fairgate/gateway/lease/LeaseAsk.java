package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.spring.admission.TenantAccess.Caller;
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
record LeaseAsk(
        Caller caller, LeaseId id, Map<String, Integer> permits, Duration ttl, Duration maxWait, String holder) {
    LeaseAsk {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
    }
}
