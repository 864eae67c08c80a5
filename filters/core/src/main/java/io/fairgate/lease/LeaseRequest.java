package io.fairgate.lease;

import io.fairgate.permit.PermitRequest;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a lease asks of one pool.
 *
 * @param permits how many at once, at least 1
 * @param patience how long the caller waits for an answer; the place in the queue is kept for as long as the lease lasts
 * @param ttl until the lease expires, from the grant on, and while it waits from the end of the caller's patience; null when
 *     asking and granting do not change when it expires
 */
public record LeaseRequest(
        String pool,
        int permits,
        Duration patience,
        @Nullable Duration ttl) {

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseRequest {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
        requireBounded("patience", patience);
        if (ttl != null) {
            requireBounded("ttl", ttl);
        }
    }

    private static void requireBounded(String name, Duration value) {
        if (value.isNegative() || value.compareTo(LeaseTerm.LONGEST) > 0) {
            throw new IllegalArgumentException("%s: %s (expected: 0 to 365 days)".formatted(name, value));
        }
    }

    /** As a pool is asked: the lease bounds both the wait and the hold. */
    PermitRequest by(TenantId tenant) {
        return PermitRequest.of(tenant)
                .withPermits(permits)
                .withMaxWait(LeaseTerm.LONGEST)
                .withMaxHold(LeaseTerm.LONGEST);
    }
}
