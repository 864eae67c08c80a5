package io.fairgate.redis.division;

import io.fairgate.shares.Entitlements;
import io.fairgate.shares.Entitlements.Division;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Divides the permits of a pool between nodes, by what the tenants want at each of them. Each node does it for itself, from
 * what all nodes have told.
 *
 * <ol>
 *   <li>What a tenant wants at all nodes together gives what it is entitled to ({@link Entitlements}), as if there were one
 *       gateway.
 *   <li>A node is entitled to the part of it that the tenant wants there.
 *   <li>Within the node, the tenant's weight and guarantee count for the same part, and those of its group for the part of what the
 *       group is entitled to. Without this, a tenant at two nodes would get two shares.
 * </ol>
 *
 * <p>Permits are scarce while fewer are left than there are nodes. Then permits of which several nodes are entitled to a
 * fraction are given in turn: the nodes that are owed most get one permit more. Otherwise each node should have a few more than
 * its tenants want, so that the next requests need not wait for the ledger, and about half of what is left stays free for the node
 * that needs it first. The only node gets all.
 *
 * <p>A request for more permits than its node should have could never be granted by this. {@link LargeNodes} says which node is first
 * then: it should have as many as its request needs, and the others divide the rest.
 */
public final class ClusterShares {

    private final TenantShares shares;
    private final Entitlements entitlements;

    public ClusterShares(TenantShares shares) {
        this.shares = shares;
        this.entitlements = new Entitlements(shares);
    }

    /**
     * What a node should have.
     *
     * @param permits of the pool, those of leases included
     * @param self the name of the node
     * @param nodes what each live node tells; a node that is not among them should have nothing
     */
    public NodeShare of(int permits, String self, Map<String, NodeDemand> nodes) {
        return of(permits, self, nodes, false);
    }

    /**
     * The same for a node that may have just got a permit of which several nodes have a part.
     *
     * @param isKept whether it counts as owed most, while no node has a large request
     */
    public NodeShare of(int permits, String self, Map<String, NodeDemand> nodes, boolean isKept) {
        NodeDemand own = nodes.get(self);
        if (own == null) {
            return NodeShare.NONE;
        }
        Map<String, Map<TenantId, Double>> wanted = new HashMap<>();
        Map<String, Double> owed = new HashMap<>();
        nodes.forEach((name, node) -> {
            wanted.put(name, node.wanted());
            owed.put(name, node.owed());
        });
        NodeSplit split = NodeSplit.of(permits, wanted, owed, entitlements);
        LargeNodes large = LargeNodes.among(nodes, split);
        if (large.isEmpty() && isKept) {
            owed.put(self, Double.MAX_VALUE);
            split = NodeSplit.of(permits, wanted, owed, entitlements);
        }
        if (large.isEmpty()) {
            return share(own, split, split.target(self), split.isScarce(), false, split.entitled(self));
        }
        int divided = (int) split.division().permits();
        Set<String> possible = large.thatFit(divided);
        Map<String, Map<TenantId, Double>> small = large.withoutLarge(possible);
        NodeSplit rest = NodeSplit.of(permits, small, owed, entitlements);
        boolean isOwed = possible.contains(self) || !large.contains(self);
        double entitled = isOwed ? split.entitled(self) : rest.entitled(self);
        String first = large.first(possible, rest).orElse(null);
        if (first == null) {
            boolean isScarce = !possible.isEmpty() || rest.isScarce();
            return share(own, split, rest.target(self), isScarce, false, entitled);
        }
        int ofFirst = nodes.getOrDefault(first, NodeDemand.NONE).large().needed();
        if (first.equals(self)) {
            return share(own, split, ofFirst, true, true, entitled);
        }
        small.remove(first);
        return share(own, split, besideFirst(divided - ofFirst, self, small, nodes, owed), true, false, entitled);
    }

    /**
     * What a node should have beside the first one. Each node keeps its leases, and what is left is divided.
     *
     * @param permits those of the first node, and those that are reserved and not asked for, are not among them
     */
    private int besideFirst(
            int permits,
            String self,
            Map<String, Map<TenantId, Double>> small,
            Map<String, NodeDemand> nodes,
            Map<String, Double> owed) {
        Map<String, Map<TenantId, Double>> wanted = new HashMap<>();
        Map<TenantId, Double> ofAll = new HashMap<>();
        int leased = 0;
        for (Map.Entry<String, Map<TenantId, Double>> node : small.entrySet()) {
            int here = leased(nodes, node.getKey());
            leased += here;
            Map<TenantId, Double> rest = NodeDemand.without(here, node.getValue());
            wanted.put(node.getKey(), rest);
            rest.forEach((tenant, n) -> ofAll.merge(tenant, n, Double::sum));
        }
        // The division takes away what is reserved and not asked for; that of the first node is asked for.
        int reserved = (int) entitlements.idle(ofAll);
        NodeSplit split = NodeSplit.of(Math.max(0, permits - leased) + reserved, wanted, owed, entitlements);
        return split.target(self) + leased(nodes, self);
    }

    private static int leased(Map<String, NodeDemand> nodes, String name) {
        return nodes.getOrDefault(name, NodeDemand.NONE).large().leased();
    }

    private NodeShare share(
            NodeDemand own, NodeSplit split, int target, boolean isScarce, boolean isFirst, double entitled) {
        Map<TenantId, Double> parts = new HashMap<>();
        own.wanted().forEach((tenant, n) -> parts.put(tenant, split.part(tenant, n)));
        return new NodeShare(target, entitled, isScarce, isFirst, parts, groupParts(parts, split.division()));
    }

    private Map<String, Double> groupParts(Map<TenantId, Double> parts, Division division) {
        Map<String, Double> entitled = new HashMap<>();
        parts.forEach((tenant, part) -> shares.groups()
                .namesAbove(tenant)
                .forEach(group -> entitled.merge(group, division.of(tenant) * part, Double::sum)));
        Map<String, Double> groupParts = new HashMap<>();
        entitled.forEach((group, here) -> {
            double all = division.ofGroup(group);
            if (here > 0 && all > 0) {
                groupParts.put(group, Math.min(1, here / all));
            }
        });
        return groupParts;
    }
}
