package io.fairgate.redis.slice;

import io.fairgate.tenant.TenantId;
import java.util.Map;

/**
 * What one node should have of a pool.
 *
 * @param target whole permits
 * @param entitled the same before it was rounded
 * @param isScarce whether all nodes together want nearly all permits, or more
 * @param parts how much of each tenant's demand is at this node, from 0 to 1: its weight counts here for that part
 */
record NodeShare(int target, double entitled, boolean isScarce, Map<TenantId, Double> parts) {

    NodeShare {
        parts = Map.copyOf(parts);
    }
}
