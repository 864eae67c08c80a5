package io.fairgate.redis.division;

import io.fairgate.tenant.TenantId;
import java.util.Map;

/**
 * What one node should have of a pool.
 *
 * @param target whole permits
 * @param entitled what its tenants are entitled to there, before it was rounded, and whether or not they can use it now
 * @param isScarce whether all nodes together want nearly all permits, or more
 * @param isFirst whether the target is for a request that is larger than what the node is entitled to
 * @param parts how much of each tenant's demand is at this node, more than 0 and at most 1: its weight and guarantee count here
 *     for that part
 * @param groupParts how much of each group's share its tenants have at this node, more than 0 and at most 1: weight and guarantee
 *     of the group count here for that part
 */
public record NodeShare(
        int target,
        double entitled,
        boolean isScarce,
        boolean isFirst,
        Map<TenantId, Double> parts,
        Map<String, Double> groupParts) {

    public static final NodeShare NONE = new NodeShare(0, 0, false, false, Map.of(), Map.of());

    public NodeShare {
        parts = Map.copyOf(parts);
        groupParts = Map.copyOf(groupParts);
    }
}
