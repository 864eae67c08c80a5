package io.fairgate.redis.slice;

import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.Entitlements;
import io.fairgate.shares.Entitlements.Division;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

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
 * <p><b>A request for more permits than its node should have</b> could never be granted by this. So one of the nodes with such requests is first:
 * it should have as many as its request needs, and the others divide the rest. {@link LargeTurn} says how urgent the request of a node is.
 * The other nodes with such requests should have no permits for these, nor for those behind them: they are owed more meanwhile.
 */
final class ClusterShares {

    /** In seconds of the permits that a node is entitled to. */
    private static final double MOST_OWED_TO_ALL = 3;

    private static final int MOST_RESERVED = PoolSettings.MAX_PERMITS;

    private final TenantShares shares;
    private final Entitlements entitlements;

    ClusterShares(TenantShares shares) {
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
    NodeShare of(int permits, String self, Map<String, NodeDemand> nodes) {
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
        Set<String> large = new TreeSet<>(nodes.keySet());
        large.removeIf(name -> !isLarge(told(nodes, name).large(), split.target(name)));
        if (large.isEmpty()) {
            return share(own, split, split.target(self), split.isScarce(), false, split.entitled(self));
        }
        Set<TenantId> tenants = new HashSet<>();
        large.forEach(name -> tenants.addAll(told(nodes, name).wanted().keySet()));
        wanted.replaceAll((name, byTenant) -> withoutLarge(told(nodes, name), large.contains(name), tenants, split));
        NodeSplit rest = NodeSplit.of(permits, wanted, owed, entitlements);
        int divided = (int) split.division().permits();
        Set<String> possible = possible(divided, nodes, large);
        boolean isOwed = possible.contains(self) || !large.contains(self);
        double entitled = isOwed ? split.entitled(self) : rest.entitled(self);
        String first = first(nodes, possible, split, rest).orElse(null);
        if (first == null) {
            return share(own, split, rest.target(self), true, false, entitled);
        }
        int ofFirst = told(nodes, first).large().needed();
        if (first.equals(self)) {
            return share(own, split, ofFirst, true, true, entitled);
        }
        wanted.remove(first);
        return share(own, split, besideFirst(divided - ofFirst, self, wanted, nodes, owed), true, false, entitled);
    }

    /**
     * What a node should have beside the first one. The leases of each node are first: they stay where they are.
     *
     * @param permits those of the first node, and those that are reserved and not asked for, are not among them
     */
    private int besideFirst(
            int permits,
            String self,
            Map<String, Map<TenantId, Double>> wanted,
            Map<String, NodeDemand> nodes,
            Map<String, Double> owed) {
        Map<TenantId, Double> ofAll = new HashMap<>();
        wanted.replaceAll(
                (name, byTenant) -> NodeDemand.without(told(nodes, name).large().leased(), byTenant));
        wanted.values().forEach(node -> node.forEach((tenant, n) -> ofAll.merge(tenant, n, Double::sum)));
        int leased = wanted.keySet().stream()
                .mapToInt(name -> told(nodes, name).large().leased())
                .sum();
        // The division takes away what is reserved and not asked for; that of the first node is asked for.
        int reserved =
                MOST_RESERVED - (int) entitlements.of(MOST_RESERVED, ofAll).permits();
        NodeSplit split = NodeSplit.of(Math.max(0, permits - leased) + reserved, wanted, owed, entitlements);
        return split.target(self) + told(nodes, self).large().leased();
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

    // ---- requests for more permits than a node should have ----

    /**
     * Whether requests wait at a node that need more than it should have, or more than comes back in time. A request for one permit waits for one
     * that is given in turn.
     */
    private static boolean isLarge(LargeDemand told, int target) {
        return told.needed() == 0
                ? !told.behind().isEmpty()
                : told.needed() > target && told.needed() - told.leased() > 1;
    }

    /** Those nodes whose requests fit beside the leases of the others. */
    private static Set<String> possible(int permits, Map<String, NodeDemand> nodes, Set<String> large) {
        long leased =
                nodes.values().stream().mapToLong(node -> node.large().leased()).sum();
        Set<String> possible = new TreeSet<>(large);
        possible.removeIf(name -> {
            LargeDemand told = told(nodes, name).large();
            return told.needed() == 0 || told.needed() + leased - told.leased() > permits;
        });
        return possible;
    }

    /**
     * The node with the most urgent request; empty when it should let others go first, and these want the permits.
     *
     * @param split the division by what all want, which gives what each node is owed
     * @param rest the division if none is first
     */
    private static Optional<String> first(
            Map<String, NodeDemand> nodes, Set<String> possible, NodeSplit split, NodeSplit rest) {
        // Permits on their way from node to node are owed to all nodes. A sum may have other reasons, such as a node
        // that has ended.
        double owed = nodes.values().stream().mapToDouble(NodeDemand::owed).sum()
                / Math.max(NodeSplit.ROUNDING, split.entitledInAll());
        double ofAll = Math.min(Math.max(0, owed), MOST_OWED_TO_ALL);
        ToDoubleFunction<String> urgency = name -> told(nodes, name).large().urgency() - ofAll * split.entitled(name);
        return possible.stream()
                .max(Comparator.comparingDouble(urgency))
                .filter(name -> urgency.applyAsDouble(name) >= 0
                        || told(nodes, name).large().needed() <= rest.left() + rest.entitled(name));
    }

    private static NodeDemand told(Map<String, NodeDemand> nodes, String name) {
        return nodes.getOrDefault(name, NodeDemand.NONE);
    }

    /**
     * What a node wants of the permits that are not for large requests.
     *
     * @param isLarge whether it has a large request itself
     * @param tenants of the nodes with large requests. They get no more of these permits than they are entitled to at the node, because the permits for
     *     large requests count for them as well
     */
    private static Map<TenantId, Double> withoutLarge(
            NodeDemand node, boolean isLarge, Set<TenantId> tenants, NodeSplit split) {
        Map<TenantId, Double> rest = new HashMap<>();
        node.wanted().forEach((tenant, n) -> {
            double most = tenants.contains(tenant) ? split.division().of(tenant) * split.part(tenant, n) : n;
            double wanted = Math.min(most, isLarge ? n - node.large().behind(tenant) : n);
            if (wanted > NodeSplit.ROUNDING) {
                rest.put(tenant, wanted);
            }
        });
        return rest;
    }
}
