package io.fairgate.lease;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The permits that a lease held before a restart.
 *
 * @param permits the number of permits, by the name of the pool
 * @param heldFor the time since their grant
 * @param token the fencing token of that grant
 */
public record HeldBefore(Map<String, Integer> permits, Duration heldFor, long token) {

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public HeldBefore {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
        if (permits.isEmpty()) {
            throw new IllegalArgumentException("permits: none (expected: permits of one pool or more)");
        }
        LeaseTerm.requireBounded("held-for", heldFor);
    }

    /** The term of a lease that holds these permits again, with a time to expiry within the bounds of their pools. */
    public LeaseTerm bounded(LeaseTerm term, LeasedPools pools) {
        Duration ttl = permits.keySet().stream()
                .map(pool -> pools.bounds(pool).maxTtl())
                .reduce(term.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
        return new LeaseTerm(ttl, term.maxHold(), term.remembered());
    }
}
