package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A naive model of the rules of the hierarchy, for requests of one permit and a fixed gain. It receives each grant, and requires
 * that at every node on the way down the first child was taken. It computes keys in another way than the scheduler, so children
 * whose keys differ only by rounding may both be first. It does not model ties (the comparison with a scan does), nor
 * collections, which requests of one permit do not need.
 */
final class TreeModel {

    /** One node. */
    static final class Node {
        final String name;

        @Nullable
        Node parent;

        ShareSettings settings = ShareSettings.EQUAL;
        final List<Node> children = new ArrayList<>();
        final boolean isLeaf;
        int waiting;
        int inFlight;
        double served = Double.NEGATIVE_INFINITY;
        boolean backlogged;
        boolean contended;
        /** Whether its last grant was due to a guarantee or a reservation. */
        boolean servedFirst;

        /** The nanoseconds for which its children have contended. */
        long clock;
        /** On the clock of its parent. */
        long idleSince;

        double lastLevel;
        double lag;

        Node(String name, boolean isLeaf) {
            this.name = name;
            this.isLeaf = isLeaf;
        }

        double weight() {
            return settings.weight();
        }

        boolean isIdle() {
            return isLeaf ? inFlight == 0 && waiting == 0 : children.stream().allMatch(Node::isIdle);
        }

        long used() {
            return isLeaf
                    ? inFlight
                    : children.stream().mapToLong(Node::occupied).sum();
        }

        long occupied() {
            return Math.max(used(), settings.reserved());
        }

        List<Node> competing() {
            return children.stream().filter(child -> child.backlogged).toList();
        }

        /** The permits that one more permit for the next child takes from the parent. */
        long cost() {
            boolean isFree = used() < settings.reserved()
                    || (!isLeaf && competing().stream().anyMatch(child -> child.cost() == 0));
            return isFree ? 0 : 1;
        }

        /** Whether its own cap allows the next grant below it. */
        boolean capAllows() {
            boolean costsNothing = !isLeaf && competing().stream().anyMatch(child -> child.cost() == 0);
            return used() + (costsNothing ? 0 : 1) <= settings.maxInFlight();
        }

        double level() {
            List<Node> competing = competing();
            List<Node> byKey =
                    competing.stream().filter(child -> !child.servedFirst).toList();
            List<Node> counted = byKey.isEmpty() ? competing : byKey;
            return counted.isEmpty()
                    ? lastLevel
                    : counted.stream().mapToDouble(child -> child.served).sum()
                            / counted.stream().mapToDouble(Node::weight).sum();
        }

        @Override
        public String toString() {
            return "%s (holds %d, waiting %d, served %.0f)".formatted(name, inFlight, waiting, served);
        }
    }

    private final int permits;
    private final double gain;
    private final double memory;
    private final Node pool = new Node("pool", false);
    private final Map<TenantId, Node> tenants = new LinkedHashMap<>();
    private final Map<String, Node> groups = new LinkedHashMap<>();

    int grants;
    int choices;

    TreeModel(int permits, TenantShares shares, double gain, double memory) {
        this.permits = permits;
        this.gain = gain;
        this.memory = memory;
        reconfigured(shares);
    }

    // ---- events ----

    void passed(long nanos) {
        each(pool, node -> {
            if (node.contended) {
                node.clock += nanos;
                node.children.forEach(child -> child.served += (double) child.inFlight * nanos);
            }
        });
    }

    void arrived(TenantId tenant) {
        Node leaf = Objects.requireNonNull(tenants.get(tenant));
        for (Node node = leaf; node.parent != null; node = node.parent) {
            if (isForgiven(node)) {
                node.served = Math.min(node.served, node.parent.level() * node.weight());
            }
        }
        leaf.waiting++;
        settle(leaf);
    }

    void cancelled(TenantId tenant) {
        Node leaf = Objects.requireNonNull(tenants.get(tenant));
        leaf.waiting--;
        noteIdle(leaf);
        settle(leaf);
    }

    void released(TenantId tenant) {
        Node leaf = Objects.requireNonNull(tenants.get(tenant));
        for (Node node = leaf; node != null; node = node.parent) {
            node.inFlight--;
        }
        noteIdle(leaf);
        boundLags(leaf);
        settle(leaf);
    }

    void reconfigured(TenantShares shares) {
        each(pool, node -> node.children.forEach(child -> child.lag = node.level() * child.weight() - child.served));
        Map<Node, Double> levels = new LinkedHashMap<>();
        each(pool, node -> {
            node.lastLevel = node.level();
            levels.put(node, node.lastLevel);
        });
        shares.groups().byName().forEach((name, group) -> groups.computeIfAbsent(name, n -> newNode(n, false)));
        shares.members().forEach((id, settings) -> tenants.computeIfAbsent(id, n -> newNode(n.value(), true)));
        shares.groups().byName().forEach((name, group) -> place(groups.get(name), group.settings(), group.parent()));
        shares.members()
                .forEach((id, settings) -> place(
                        tenants.get(id), settings, shares.groups().parents().get(id)));
        groups.entrySet().removeIf(entry -> {
            boolean gone = !shares.groups().byName().containsKey(entry.getKey());
            if (gone) {
                Node parent = Objects.requireNonNull(entry.getValue().parent);
                parent.children.remove(entry.getValue());
            }
            return gone;
        });
        each(
                pool,
                node -> node.children.forEach(
                        child -> child.served = levels.getOrDefault(node, 0.0) * child.weight() - child.lag));
        recount(pool);
        each(
                pool,
                node -> node.children.stream()
                        .filter(child -> child.lag == Double.POSITIVE_INFINITY)
                        .forEach(child -> child.served = Double.NEGATIVE_INFINITY));
        settleGroupsWithoutCompetitors(pool);
        tenants.values().forEach(this::settle);
    }

    private void settleGroupsWithoutCompetitors(Node node) {
        node.children.forEach(this::settleGroupsWithoutCompetitors);
        if (!node.isLeaf && node.backlogged && node.competing().isEmpty()) {
            settle(node);
        }
    }

    private Node newNode(String name, boolean isLeaf) {
        Node node = new Node(name, isLeaf);
        node.parent = pool;
        node.lag = Double.POSITIVE_INFINITY;
        node.idleSince = pool.clock;
        pool.children.add(node);
        return node;
    }

    private void place(@Nullable Node node, ShareSettings settings, @Nullable String group) {
        Node parent = group == null ? pool : Objects.requireNonNull(groups.get(group));
        Node moved = Objects.requireNonNull(node);
        Node before = Objects.requireNonNull(moved.parent);
        if (before != parent) {
            before.children.remove(moved);
            parent.children.add(moved);
            moved.parent = parent;
            moved.idleSince = parent.clock;
        }
        moved.settings = settings;
    }

    private static void recount(Node node) {
        if (!node.isLeaf) {
            node.children.forEach(TreeModel::recount);
            noteIdle(node);
            node.inFlight =
                    node.children.stream().mapToInt(child -> child.inFlight).sum();
        }
    }

    /** One permit was granted: at every node the chosen child must have been first. */
    void granted(TenantId tenant) {
        Node leaf = Objects.requireNonNull(tenants.get(tenant));
        assertThat(leaf.backlogged).as("%s competes", leaf).isTrue();
        List<Node> path = new ArrayList<>();
        for (Node node = leaf; node != pool; node = Objects.requireNonNull(node.parent)) {
            path.add(0, node);
        }
        long available = permits - pool.used();
        assertThat(path.get(0).cost()).as("cost of %s", path).isLessThanOrEqualTo(available);
        path.forEach(node -> assertFirst(Objects.requireNonNull(node.parent), node));
        path.forEach(node -> node.servedFirst =
                node.inFlight < node.settings.guaranteed() || node.used() < node.settings.reserved());
        leaf.waiting--;
        for (Node node = leaf; node != null; node = node.parent) {
            node.inFlight++;
        }
        boundLags(leaf);
        settle(leaf);
        grants++;
    }

    private void assertFirst(Node parent, Node child) {
        List<Node> competing = parent.competing();
        choices += competing.size() > 1 ? 1 : 0;
        assertThat(child.backlogged).as("%s competes below %s", child, parent).isTrue();
        List<Node> own = competing.stream().filter(c -> c.cost() == 0).toList();
        List<Node> promised = competing.stream()
                .filter(c -> c.inFlight < c.settings.guaranteed())
                .toList();
        if (own.isEmpty() && !promised.isEmpty()) {
            double least = promised.stream()
                    .mapToDouble(c -> (double) c.inFlight / c.settings.guaranteed())
                    .min()
                    .orElseThrow();
            assertThat(promised)
                    .as("first below %s are below their guarantee", parent)
                    .contains(child);
            assertThat((double) child.inFlight / child.settings.guaranteed()).isEqualTo(least);
            return;
        }
        List<Node> candidates = own.isEmpty() ? competing : own;
        double least = candidates.stream().mapToDouble(this::key).min().orElseThrow();
        assertThat(candidates).as("candidates below %s", parent).contains(child);
        assertThat(key(child) - least)
                .as("key of %s beyond the smallest of %s", child, candidates)
                .isLessThanOrEqualTo(tolerance(key(child)));
    }

    private double key(Node node) {
        return (node.served + gain * node.inFlight) / node.weight();
    }

    private static double tolerance(double key) {
        return 1e4 + 1e-9 * Math.abs(key);
    }

    /** After a round of grants: no fitting request waits, and the accounts agree with the scheduler. */
    void handedOut(PoolStatus status) {
        long available = permits - pool.used();
        assertThat(pool.competing())
                .as("left waiting with %d free", available)
                .allMatch(child -> child.cost() > available);
        each(pool, node -> node.contended = !node.competing().isEmpty());
        status.tenants()
                .forEach(told ->
                        check(tenants.get(told.tenant()), (double) told.lag().toNanos(), told.inFlight()));
        status.groups()
                .forEach(told ->
                        check(groups.get(told.group()), (double) told.lag().toNanos(), told.inFlight()));
    }

    private void check(@Nullable Node node, double lag, int inFlight) {
        Node known = Objects.requireNonNull(node);
        if (isForgiven(known)) {
            assertThat(lag).as("lag of %s", known).isZero();
            return;
        }
        double behind = Objects.requireNonNull(known.parent).level() * known.weight() - known.served;
        double off = known.backlogged ? lag - behind : Math.min(lag, 0) - Math.min(behind, 0);
        assertThat(known.inFlight).isEqualTo(inFlight);
        assertThat(Math.abs(off)).as("lag of %s, off by", known).isLessThan(known.weight() * tolerance(behind));
    }

    // ---- the rules ----

    private void settle(Node leaf) {
        for (Node node = leaf; node.parent != null; node = node.parent) {
            Node parent = node.parent;
            boolean hasWork = node.isLeaf
                    ? node.waiting > 0 && everFits(node)
                    : !node.competing().isEmpty();
            boolean competes = hasWork && node.capAllows();
            if (competes && !node.backlogged) {
                node.served = Math.max(node.served, parent.level() * node.weight());
                boundLag(node);
            } else if (!competes && node.backlogged) {
                parent.lastLevel = parent.level();
            }
            node.backlogged = competes;
        }
    }

    private boolean everFits(Node leaf) {
        long needed = Math.max(1, leaf.settings.reserved());
        for (Node node = leaf; node.parent != null; node = node.parent) {
            for (Node other : node.parent.children) {
                needed += other == node ? 0 : kept(other);
            }
            if (needed > (node.parent == pool ? permits : node.parent.settings.maxInFlight())) {
                return false;
            }
            needed = Math.max(needed, node.parent.settings.reserved());
        }
        return true;
    }

    private static long kept(Node node) {
        return Math.max(
                node.settings.reserved(),
                node.children.stream().mapToLong(TreeModel::kept).sum());
    }

    private static void noteIdle(Node from) {
        for (Node node = from; node.parent != null; node = node.parent) {
            node.idleSince = node.isIdle() ? node.parent.clock : node.idleSince;
        }
    }

    /** Idle for as long as debts are remembered. */
    private boolean isForgiven(Node node) {
        Node parent = Objects.requireNonNull(node.parent);
        return node.isIdle() && parent.clock - node.idleSince > memory;
    }

    private void boundLags(Node leaf) {
        for (Node node = leaf; node.parent != null; node = node.parent) {
            boundLag(node);
        }
    }

    private void boundLag(Node node) {
        Node parent = Objects.requireNonNull(node.parent);
        double bound = memory * permitsOf(parent) / Math.max(competingWeight(parent), node.weight());
        double level = parent.level();
        double virtual = Math.min(Math.max(node.served / node.weight(), level - bound), level + bound);
        node.served = virtual == node.served / node.weight() ? node.served : virtual * node.weight();
    }

    private static double competingWeight(Node parent) {
        return parent.competing().stream().mapToDouble(Node::weight).sum();
    }

    private double permitsOf(Node node) {
        if (node.parent == null) {
            return permits;
        }
        double entitled =
                permitsOf(node.parent) * node.weight() / Math.max(competingWeight(node.parent), node.weight());
        return Math.max(1, Math.min(node.settings.maxInFlight(), Math.max(node.inFlight, entitled)));
    }

    private static void each(Node node, Consumer<Node> action) {
        action.accept(node);
        List.copyOf(node.children).forEach(child -> each(child, action));
    }
}
