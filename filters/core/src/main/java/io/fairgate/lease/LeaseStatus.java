package io.fairgate.lease;

import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The status of a lease at one moment.
 *
 * @param serial grows with each lease that is opened; distinguishes it from an earlier lease with the same id
 * @param held the permits that it holds, in the order of the grants
 * @param waiting the permits that it waits for; null when it does not wait
 * @param leftNanos the time until it expires
 */
public record LeaseStatus(
        LeaseId id,
        long serial,
        LeaseHolder holder,
        List<Held> held,
        @Nullable Waiting waiting,
        long leftNanos) {

    /**
     * Permits of one pool.
     *
     * @param token the fencing token of the grant; permits that were granted together have the same token
     * @param waitedNanos the time from the request to the grant
     * @param heldNanos the time since the grant
     */
    public record Held(String pool, int permits, long token, long waitedNanos, long heldNanos) {}

    /**
     * The permits that a lease waits for, to be granted all at once.
     *
     * @param permits the number of permits, by the name of the pool
     * @param pool the pool in whose queue the lease waits
     * @param place its place among the waiting leases of its tenant in that pool, in the order of arrival; the first is 1
     * @param waitedNanos the time since the request
     */
    public record Waiting(Map<String, Integer> permits, String pool, int place, long waitedNanos) {
        public Waiting {
            permits = Map.copyOf(permits);
        }
    }

    public LeaseStatus {
        held = List.copyOf(held);
    }

    /** The tenant that its permits are counted for. */
    public TenantId tenant() {
        return holder.tenant();
    }

    /** The permits that it holds of a pool; null for none. */
    public @Nullable Held held(String pool) {
        return held.stream()
                .filter(grant -> grant.pool.equals(pool))
                .findFirst()
                .orElse(null);
    }
}
