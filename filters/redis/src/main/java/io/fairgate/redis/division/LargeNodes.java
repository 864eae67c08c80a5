package io.fairgate.redis.division;

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
 * The nodes whose requests need more permits than the nodes should have. One of them is first, and gets what its request needs; the
 * others should have no permits for such requests, nor for those behind them, and are owed more meanwhile. {@link LargeTurn} says how urgent the
 * request of a node is.
 */
final class LargeNodes {

    private final Map<String, NodeDemand> nodes;
    private final NodeSplit split;
    private final Set<String> names;

    private LargeNodes(Map<String, NodeDemand> nodes, NodeSplit split, Set<String> names) {
        this.nodes = nodes;
        this.split = split;
        this.names = names;
    }

    /**
     * @param nodes what each live node tells
     * @param split the division by all that they want
     */
    static LargeNodes among(Map<String, NodeDemand> nodes, NodeSplit split) {
        Set<String> names = new TreeSet<>();
        nodes.forEach((name, node) -> {
            if (isLarge(node.large(), split.target(name))) {
                names.add(name);
            }
        });
        return new LargeNodes(nodes, split, names);
    }

    /**
     * Whether requests wait at a node that need more than it should have, or more than comes back in time. A request for one permit waits for one
     * that is given in turn.
     */
    private static boolean isLarge(LargeDemand told, int target) {
        return told.needed() == 0
                ? !told.behind().isEmpty()
                : told.needed() > target && told.needed() - told.leased() > 1;
    }

    boolean isEmpty() {
        return names.isEmpty();
    }

    boolean contains(String name) {
        return names.contains(name);
    }

    /** Those whose requests fit in these permits beside the leases of the other nodes. */
    Set<String> thatFit(int permits) {
        long leased =
                nodes.values().stream().mapToLong(node -> node.large().leased()).sum();
        Set<String> fit = new TreeSet<>(names);
        fit.removeIf(name -> {
            LargeDemand told = told(name).large();
            return told.needed() == 0 || told.needed() + leased - told.leased() > permits;
        });
        return fit;
    }

    /**
     * The node with the most urgent request; empty when it should let others go first, and these want the permits.
     *
     * @param possible the nodes that may be first
     * @param rest the division if none is first
     */
    Optional<String> first(Set<String> possible, NodeSplit rest) {
        double ofOthers = owedToOthers();
        ToDoubleFunction<String> urgency = name -> told(name).large().urgency() - ofOthers * split.entitled(name);
        return possible.stream()
                .max(Comparator.comparingDouble(urgency))
                .filter(name -> urgency.applyAsDouble(name) >= 0
                        || told(name).large().needed() <= rest.left() + rest.entitled(name));
    }

    /**
     * What the nodes without large requests are owed, in seconds of what they are entitled to. Permits on their way from node to node are owed to
     * all nodes; and after each turn, these nodes are owed something.
     */
    private double owedToOthers() {
        double owed = 0;
        double entitled = 0;
        for (Map.Entry<String, NodeDemand> node : nodes.entrySet()) {
            if (!contains(node.getKey())) {
                owed += node.getValue().owed();
                entitled += split.entitled(node.getKey());
            }
        }
        if (entitled < NodeSplit.ROUNDING) {
            owed = nodes.values().stream().mapToDouble(NodeDemand::owed).sum();
            entitled = Math.max(NodeSplit.ROUNDING, split.entitledInAll());
        }
        return Math.max(0, owed / entitled);
    }

    /**
     * Takes the permits for large requests out of what each node wants.
     *
     * @param possible the nodes that may be first. Their tenants get no more of the other permits than they are entitled to at each node, because
     *     the permits for large requests count for them as well
     */
    void leaveOut(Map<String, Map<TenantId, Double>> wanted, Set<String> possible) {
        Set<TenantId> tenants = new HashSet<>();
        possible.forEach(name -> tenants.addAll(told(name).wanted().keySet()));
        wanted.replaceAll((name, byTenant) -> {
            LargeDemand large = contains(name) ? told(name).large() : LargeDemand.NONE;
            Map<TenantId, Double> rest = new HashMap<>();
            byTenant.forEach((tenant, n) -> {
                double most = tenants.contains(tenant) ? split.division().of(tenant) * split.part(tenant, n) : n;
                double left = Math.min(most, n - large.behind(tenant));
                if (left > NodeSplit.ROUNDING) {
                    rest.put(tenant, left);
                }
            });
            return rest;
        });
    }

    private NodeDemand told(String name) {
        return nodes.getOrDefault(name, NodeDemand.NONE);
    }
}
