package io.fairgate.redis.division;

import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * The nodes whose requests need more permits than the nodes should have. One of them is first, and gets what its request needs; the
 * others should have no permits for such requests, nor for those behind them, and are owed more meanwhile. {@link LargeTurn} says how urgent the
 * request of a node is.
 */
final class LargeNodes {

    /** See {@link Owed#comparedWith}. */
    private static final double SECONDS = 3;

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
     * The node with the most urgent request. Empty if the others are owed more, and want the permits.
     *
     * @param possible the nodes that may be first
     * @param rest the division if none is first
     */
    Optional<String> first(Set<String> possible, NodeSplit rest) {
        Owed others = owedToOthers();
        ToDoubleFunction<String> urgency =
                name -> told(name).large().urgency() - others.comparedWith(split.entitled(name));
        return possible.stream()
                .max(Comparator.comparingDouble(urgency))
                .filter(name -> urgency.applyAsDouble(name) >= 0
                        || told(name).large().needed() <= rest.left() + rest.entitled(name));
    }

    /**
     * What nodes are owed together.
     *
     * @param entitled the permits that they are entitled to now
     */
    private record Owed(double permitSeconds, double entitled) {

        /**
         * In permit-seconds: what a node is owed that is entitled to these permits and has waited as long. The nodes may have been entitled to more
         * before; so after some seconds it is not more than they are owed in all.
         */
        double comparedWith(double permits) {
            double owed = Math.max(0, permitSeconds);
            double most = Math.max(owed, SECONDS * permits);
            return owed == 0 ? 0 : Math.min(owed * permits / entitled, most);
        }
    }

    /**
     * What the nodes without large requests are owed, and without such nodes, what all are owed. Permits on their way from node to node are owed to
     * all nodes; and after each turn, the others are owed something.
     */
    private Owed owedToOthers() {
        Owed others = owedTo(name -> !contains(name));
        return others.entitled() < NodeSplit.ROUNDING ? owedTo(name -> true) : others;
    }

    private Owed owedTo(Predicate<String> which) {
        double owed = 0;
        double entitled = 0;
        for (Map.Entry<String, NodeDemand> node : nodes.entrySet()) {
            double permits = split.entitled(node.getKey());
            if (which.test(node.getKey()) && permits >= NodeSplit.ROUNDING) {
                owed += node.getValue().owed();
                entitled += permits;
            }
        }
        return new Owed(owed, entitled);
    }

    /**
     * What each node wants without the permits for large requests.
     *
     * @param possible the nodes that may be first. At these nodes no tenant gets more of the other permits than it is entitled to there, and at the
     *     other nodes no tenant that waits for a large request: the permits for that request count for them as well
     */
    Map<String, Map<TenantId, Double>> withoutLarge(Set<String> possible) {
        Set<TenantId> waiting = new HashSet<>();
        possible.forEach(name -> waiting.addAll(told(name).large().behind().keySet()));
        Map<String, Map<TenantId, Double>> wanted = new HashMap<>();
        nodes.forEach((name, node) -> {
            LargeDemand large = contains(name) ? node.large() : LargeDemand.NONE;
            Map<TenantId, Double> rest = new HashMap<>();
            node.wanted().forEach((tenant, n) -> {
                boolean isBounded = possible.contains(name) || waiting.contains(tenant);
                double most = isBounded ? split.division().of(tenant) * split.part(tenant, n) : n;
                double left = Math.min(most, n - large.behind(tenant));
                if (left > NodeSplit.ROUNDING) {
                    rest.put(tenant, left);
                }
            });
            wanted.put(name, rest);
        });
        return wanted;
    }

    private NodeDemand told(String name) {
        return nodes.getOrDefault(name, NodeDemand.NONE);
    }
}
