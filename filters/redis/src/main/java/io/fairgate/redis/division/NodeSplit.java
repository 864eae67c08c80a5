package io.fairgate.redis.division;

import io.fairgate.shares.Entitlements;
import io.fairgate.shares.Entitlements.Division;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Permits that are divided between nodes by what the tenants want at each of them ({@link ClusterShares} has the rules).
 *
 * @param division what each tenant and group is entitled to at all nodes together
 * @param wanted what each tenant wants at all nodes together
 * @param entitled what each node is entitled to
 * @param targets the same in whole permits, with some in advance while there are enough
 */
record NodeSplit(
        Division division, Map<TenantId, Double> wanted, Map<String, Double> entitled, Map<String, Integer> targets) {

    static final double ROUNDING = 1e-6;

    /**
     * @param wanted what each tenant wants at each node
     * @param owed what each node is owed
     */
    static NodeSplit of(
            int permits,
            Map<String, Map<TenantId, Double>> wanted,
            Map<String, Double> owed,
            Entitlements entitlements) {
        Map<TenantId, Double> all = new HashMap<>();
        wanted.values().forEach(node -> node.forEach((tenant, n) -> all.merge(tenant, n, Double::sum)));
        Division division = entitlements.of(permits, all);
        Map<String, Double> entitled = new TreeMap<>();
        wanted.forEach((name, node) -> entitled.put(name, entitled(node, all, division)));
        double left = left(division, entitled);
        int count = wanted.size();
        Map<String, Integer> targets = left < count
                ? inTurns(whole(division.permits()), entitled, owed)
                : inAdvance((int) Math.floor(count == 1 ? left : (left - count) / (2.0 * count)), entitled);
        return new NodeSplit(division, all, entitled, targets);
    }

    private static double entitled(Map<TenantId, Double> node, Map<TenantId, Double> all, Division division) {
        double[] sum = {0};
        node.forEach((tenant, n) -> sum[0] += division.of(tenant) * part(n, all, tenant));
        return sum[0];
    }

    private static double part(double here, Map<TenantId, Double> all, TenantId tenant) {
        return here / all.getOrDefault(tenant, here);
    }

    /** The part of what the tenant wants that is wanted at one node. */
    double part(TenantId tenant, double here) {
        return part(here, wanted, tenant);
    }

    private static double left(Division division, Map<String, Double> entitled) {
        return division.permits()
                - entitled.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    double entitledInAll() {
        return division.permits() - left();
    }

    /** Permits to which no node is entitled. */
    double left() {
        return left(division, entitled);
    }

    /** Whether fewer permits are left than there are nodes. */
    boolean isScarce() {
        return left() < entitled.size();
    }

    double entitled(String node) {
        return entitled.getOrDefault(node, 0.0);
    }

    int target(String node) {
        return targets.getOrDefault(node, 0);
    }

    /** With permits for the next requests of each node. */
    private static Map<String, Integer> inAdvance(int more, Map<String, Double> entitled) {
        Map<String, Integer> targets = new HashMap<>();
        entitled.forEach((name, permits) -> targets.put(name, (int) Math.ceil(permits - ROUNDING) + more));
        return targets;
    }

    /** Whole permits: the nodes that are owed most get the permits of which several have a part. */
    private static Map<String, Integer> inTurns(int permits, Map<String, Double> entitled, Map<String, Double> owed) {
        Map<String, Integer> targets = new HashMap<>();
        entitled.forEach((name, n) -> targets.put(name, whole(n)));
        long whole = targets.values().stream().mapToLong(Integer::longValue).sum();
        List<String> withFraction = new ArrayList<>(entitled.keySet());
        withFraction.removeIf(name -> fraction(entitled, name) < ROUNDING);
        withFraction.sort(Comparator.<String>comparingDouble(name -> owed.getOrDefault(name, 0.0))
                .thenComparingDouble(name -> fraction(entitled, name))
                .reversed());
        withFraction.stream().limit(Math.max(0, permits - whole)).forEach(name -> targets.merge(name, 1, Integer::sum));
        return targets;
    }

    private static int whole(double entitled) {
        return (int) Math.floor(entitled + ROUNDING);
    }

    private static double fraction(Map<String, Double> entitled, String name) {
        double permits = entitled.getOrDefault(name, 0.0);
        return permits - whole(permits);
    }
}
