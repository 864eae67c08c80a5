package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who may claim what of a pool.
 *
 * @param members tenants with settings of their own; only these can have a reservation
 * @param others the settings of each tenant that is not a member
 */
public record TenantShares(Map<TenantId, ShareSettings> members, ShareSettings others) {

    /** Every tenant is equal. */
    public static final TenantShares EQUAL = new TenantShares(Map.of(), ShareSettings.EQUAL);

    /** @throws IllegalArgumentException when {@code others} reserve permits: nobody knows how many others will come */
    public TenantShares {
        // In the given order, which breaks ties: Map.copyOf has another order in every process.
        members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        if (others.reserved() > 0) {
            throw new IllegalArgumentException(
                    "others reserve %d (expected: 0, only a member can reserve)".formatted(others.reserved()));
        }
    }

    public ShareSettings of(TenantId tenant) {
        return members.getOrDefault(tenant, others);
    }

    /**
     * Whether the tenant, or with null one that is not a member, may take a free permit without being counted first: it
     * has no cap and no reservation.
     */
    public boolean mayTakeUnasked(@Nullable TenantId tenant) {
        ShareSettings settings = tenant == null ? others : of(tenant);
        return settings.maxInFlight() == ShareSettings.UNBOUNDED && settings.reserved() == 0;
    }

    /** Permits that all members reserve together. */
    public long reserved() {
        return members.values().stream().mapToLong(ShareSettings::reserved).sum();
    }
}
