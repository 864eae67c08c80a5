package io.fairgate.permit.embedded;

import io.fairgate.fairness.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The tenants that may use the fast path, by {@link TenantShares#mayTakeUnasked}. Computed once for the shares: for each
 * request it would take longer than taking the permit.
 *
 * @param others whether tenants that are not members may
 * @param exceptions the members for which it is the other way round
 */
record MayTakeUnasked(boolean others, Set<TenantId> exceptions) {

    static final MayTakeUnasked NOBODY = new MayTakeUnasked(false, Set.of());

    static MayTakeUnasked of(TenantShares shares) {
        boolean others = shares.mayTakeUnasked(null);
        return new MayTakeUnasked(
                others,
                shares.members().keySet().stream()
                        .filter(member -> shares.mayTakeUnasked(member) != others)
                        .collect(Collectors.toUnmodifiableSet()));
    }

    boolean includes(TenantId tenant) {
        return exceptions.isEmpty() ? others : exceptions.contains(tenant) != others;
    }
}
