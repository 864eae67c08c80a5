package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.spring.admission.TenantAccess.Caller;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What somebody asks for.
 *
 * @param permits by the name of the pool
 * @param ttl as it was asked for; nothing is cut yet
 * @param maxWait for how long the call may be answered later; the same
 * @param holder what the holder calls itself, or nothing
 */
record LeaseAsk(
        Caller caller, LeaseId id, Map<String, Integer> permits, Duration ttl, Duration maxWait, String holder) {
    LeaseAsk {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
    }
}
