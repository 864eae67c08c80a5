package io.fairgate.redis.slice;

import io.fairgate.shares.Entitlements;
import io.fairgate.shares.Entitlements.Division;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
 */
final class ClusterShares {

    private static final double ROUNDING = 1e-6;

    private final TenantShares shares;
    private final Entitlements entitlements;

    ClusterShares(TenantShares shares) {
        this.shares = shares;
        this.entitlements = new Entitlements(shares);
    }

    /**
     * What a node should have.
     *
     * @param permits of the pool, without those of leases
     * @param self the name of the node
     * @param nodes what each live node tells; a node that is not among them should have nothing
     */
    NodeShare of(int permits, String self, Map<String, NodeDemand> nodes) {
        if (!nodes.containsKey(self)) {
            return NodeShare.NONE;
        }
        Map<TenantId, Double> wanted = new HashMap<>();
        nodes.values().forEach(node -> node.wanted().forEach((tenant, n) -> wanted.merge(tenant, n, Double::sum)));
        Division division = entitlements.of(permits, wanted);
        Map<String, Double> entitled = new TreeMap<>();
        nodes.forEach((name, node) -> entitled.put(name, entitled(node, wanted, division)));
        double left = division.permits()
                - entitled.values().stream().mapToDouble(Double::doubleValue).sum();
        int count = nodes.size();
        boolean isScarce = left < count;
        NodeDemand own = nodes.getOrDefault(self, NodeDemand.NONE);
        double ownEntitled = entitled.getOrDefault(self, 0.0);
        int target = isScarce
                ? inTurns(whole(division.permits()), self, entitled, nodes)
                : (int) (Math.ceil(ownEntitled - ROUNDING) + Math.floor(inAdvance(left, count)));
        Map<TenantId, Double> parts = new HashMap<>();
        own.wanted().forEach((tenant, n) -> parts.put(tenant, part(n, wanted, tenant)));
        return new NodeShare(target, ownEntitled, isScarce, parts, groupParts(parts, division));
    }

    /** Permits for the next requests of each node. The only node gets all that are left. */
    private static double inAdvance(double left, int nodes) {
        return nodes == 1 ? left : (left - nodes) / (2.0 * nodes);
    }

    private static double part(double here, Map<TenantId, Double> wanted, TenantId tenant) {
        return here / wanted.getOrDefault(tenant, here);
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

    private static double entitled(NodeDemand node, Map<TenantId, Double> wanted, Division division) {
        double[] sum = {0};
        node.wanted().forEach((tenant, n) -> sum[0] += division.of(tenant) * part(n, wanted, tenant));
        return sum[0];
    }

    /** Whole permits: the nodes that are owed most get the permits of which several have a part. */
    private static int inTurns(int permits, String self, Map<String, Double> entitled, Map<String, NodeDemand> nodes) {
        long whole = entitled.values().stream().mapToLong(ClusterShares::whole).sum();
        List<String> withFraction = new ArrayList<>(entitled.keySet());
        withFraction.removeIf(name -> fraction(entitled, name) < ROUNDING);
        withFraction.sort(Comparator.<String>comparingDouble(
                        name -> nodes.getOrDefault(name, NodeDemand.NONE).owed())
                .thenComparingDouble(name -> fraction(entitled, name))
                .reversed());
        int place = withFraction.indexOf(self);
        int own = whole(entitled.getOrDefault(self, 0.0));
        return place >= 0 && place < permits - whole ? own + 1 : own;
    }

    private static int whole(double entitled) {
        return (int) Math.floor(entitled + ROUNDING);
    }

    private static double fraction(Map<String, Double> entitled, String name) {
        double permits = entitled.getOrDefault(name, 0.0);
        return permits - whole(permits);
    }
}
