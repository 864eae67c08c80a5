package io.fairgate.lease;

import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a lease stands at one moment.
 *
 * @param serial grows with each lease that is opened: one that is over may have had the same id
 * @param holder what its holder calls itself
 * @param held what it holds, in the order of the grants
 * @param waiting what it waits for; null when it does not
 * @param leftNanos until it expires
 */
public record LeaseStatus(
        LeaseId id,
        long serial,
        TenantId tenant,
        String holder,
        List<Held> held,
        @Nullable Waiting waiting,
        long leftNanos) {

    /**
     * Permits of one pool.
     *
     * @param token the fencing token of the grant; permits that were granted together have the same
     * @param waitedNanos from asking to the grant
     * @param heldNanos since the grant
     */
    public record Held(String pool, int permits, long token, long waitedNanos, long heldNanos) {}

    /**
     * What it waits for, all at once.
     *
     * @param permits by the name of the pool
     * @param pool in whose queue it is
     * @param place among the leases of its tenant that wait there, in the order in which they came; the first is 1
     * @param waitedNanos since it asked
     */
    public record Waiting(Map<String, Integer> permits, String pool, int place, long waitedNanos) {
        public Waiting {
            permits = Map.copyOf(permits);
        }
    }

    public LeaseStatus {
        held = List.copyOf(held);
    }

    /** What it holds of a pool; null when nothing. */
    public @Nullable Held held(String pool) {
        return held.stream()
                .filter(grant -> grant.pool.equals(pool))
                .findFirst()
                .orElse(null);
    }
}
