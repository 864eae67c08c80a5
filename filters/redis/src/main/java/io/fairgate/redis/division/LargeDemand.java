package io.fairgate.redis.division;

import io.fairgate.tenant.TenantId;
import java.util.Map;

/**
 * What a node tells the others of requests for many permits.
 *
 * @param needed the permits that the node must have, those of its leases included, to grant its largest request; 0 for none
 * @param urgency of that request, in permit-seconds ({@link LargeTurn})
 * @param leased the permits of leases, which the node has beside its slice
 * @param behind of the permits that the requests of each tenant wait for, those that wait behind a request larger than the slice, that request
 *     included
 */
public record LargeDemand(int needed, double urgency, int leased, Map<TenantId, Double> behind) {

    public static final LargeDemand NONE = new LargeDemand(0, 0, 0, Map.of());

    /** @throws IllegalArgumentException when permits are negative, or the urgency is not finite */
    public LargeDemand {
        behind = Map.copyOf(behind);
        behind.forEach((tenant, permits) -> {
            if (!(permits >= 0 && permits <= NodeDemand.MOST_PERMITS)) {
                throw new IllegalArgumentException(
                        "behind a large request of %s: %s (expected: >= 0, <= 1e9)".formatted(tenant, permits));
            }
        });
        if (needed < 0 || leased < 0 || !Double.isFinite(urgency)) {
            throw new IllegalArgumentException("needed: %d, leased: %d, urgency: %s (expected: >= 0, >= 0, finite)"
                    .formatted(needed, leased, urgency));
        }
    }

    /** The permits that wait behind large requests of the tenant. */
    public double behind(TenantId tenant) {
        return behind.getOrDefault(tenant, 0.0);
    }
}
