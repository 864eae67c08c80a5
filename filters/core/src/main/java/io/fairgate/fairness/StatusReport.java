package io.fairgate.fairness;

import io.fairgate.fairness.WaterFilling.Demand;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link PoolStatus} from the scheduler's state, of the nodes that {@code nodes} selects. An idle node matters to the
 * others only by what it reserves.
 */
final class StatusReport {

    private final HierarchyWalks walks;
    private final Function<SchedulingGroup, List<SchedulingNode>> nodes;
    private final Map<SchedulingGroup, List<SchedulingNode>> looked = new HashMap<>();
    private final Map<SchedulingNode, Wanted> wanted = new HashMap<>();
    private final Map<SchedulingNode, Double> entitled = new HashMap<>();
    private final List<SchedulingNode> tenants = new ArrayList<>();
    private final List<SchedulingNode> groups = new ArrayList<>();

    /** @param nodes selects the children of a node to report: at least all that are not idle */
    StatusReport(HierarchyWalks walks, Function<SchedulingGroup, List<SchedulingNode>> nodes) {
        this.walks = walks;
        this.nodes = nodes;
    }

    private List<SchedulingNode> nodes(SchedulingGroup siblings) {
        return looked.computeIfAbsent(siblings, those -> {
            walks.tick(those);
            return nodes.apply(those);
        });
    }

    PoolStatus make() {
        entitle(walks.top, forAll());
        collect(walks.top);
        QueuedRequest collecting = walks.top.collected.request;
        return new PoolStatus(
                walks.permits,
                walks.pool.inFlight,
                walks.pool.waiting,
                collecting == null ? 0 : collecting.permits(),
                Duration.ofNanos(walks.top.gain.nanos()),
                inOrder(tenants, node -> tenant(node, Objects.requireNonNull(node.tenant))),
                inOrder(groups, this::group));
    }

    /** The permits that a node is entitled to. */
    double share(SchedulingNode node) {
        if (node.isPool()) {
            return forAll();
        }
        List<SchedulingNode> all = nodes(node.siblings());
        return shares(all, share(node.parent()))[all.indexOf(node)];
    }

    private double forAll() {
        return walks.permits - wantedByChildren(walks.top).idle();
    }

    /** Adds the nodes to the lists of tenants and groups, and goes down into the groups. */
    private void collect(SchedulingGroup siblings) {
        for (SchedulingNode node : nodes(siblings)) {
            if (node.tenant != null) {
                tenants.add(node);
            } else if (node.children != null) {
                groups.add(node);
                collect(node.children);
            }
        }
    }

    private TenantStatus tenant(SchedulingNode node, TenantId id) {
        return new TenantStatus(
                id,
                groupOf(node),
                node.weight(),
                node.inFlight,
                node.waiting,
                entitled.getOrDefault(node, 0.0),
                Duration.ofNanos(node.heldNanos(walks.now())),
                lag(node));
    }

    private GroupStatus group(SchedulingNode node) {
        return new GroupStatus(
                node.name,
                groupOf(node),
                node.weight(),
                node.inFlight,
                node.waiting,
                entitled.getOrDefault(node, 0.0),
                lag(node));
    }

    /** The status of each node, in the order in which the nodes were made. */
    private static <T> List<T> inOrder(List<SchedulingNode> nodes, Function<SchedulingNode, T> status) {
        return nodes.stream()
                .sorted(Comparator.comparingLong(node -> node.ordinal))
                .map(status)
                .toList();
    }

    private static @Nullable String groupOf(SchedulingNode node) {
        SchedulingNode parent = node.parent();
        return parent.isPool() ? null : parent.name;
    }

    /** The lag of a node. A node that is not backlogged is never reported as behind: it is raised when it joins. */
    private static Duration lag(SchedulingNode node) {
        SchedulingGroup siblings = node.siblings();
        boolean owesNothing = node.isIdle() && siblings.hasIdledEnough(node);
        double behind = owesNothing ? 0 : siblings.lag(node);
        return Duration.ofNanos((long) (node.backlogged ? behind : Math.min(0, behind)));
    }

    // ---- entitlements: from the pool down, water filling divides the share of each node between its children ----

    /**
     * The demand of a node.
     *
     * @param asked permits held and asked for, as far as caps allow
     * @param idle permits that are reserved for the node and not asked for; no other node may use them
     */
    private record Wanted(double asked, double idle) {}

    private Wanted wanted(SchedulingNode node) {
        Wanted known = wanted.get(node);
        if (known != null) {
            return known;
        }
        Wanted children = node.children == null
                ? new Wanted(node.inFlight + (double) node.queue.permits(), 0)
                : wantedByChildren(node.children);
        double asked = Math.min(node.cap() - children.idle(), children.asked());
        Wanted result = new Wanted(asked, Math.max(children.idle(), node.settings.reserved() - asked));
        wanted.put(node, result);
        return result;
    }

    private Wanted wantedByChildren(SchedulingGroup siblings) {
        double asked = 0;
        double idle = siblings.reserved;
        for (SchedulingNode node : nodes(siblings)) {
            Wanted one = wanted(node);
            asked += one.asked();
            idle += one.idle() - node.keeps();
        }
        return new Wanted(asked, idle);
    }

    private void entitle(SchedulingGroup siblings, double capacity) {
        List<SchedulingNode> all = nodes(siblings);
        double[] shares = shares(all, capacity);
        for (int i = 0; i < shares.length; i++) {
            SchedulingNode node = all.get(i);
            entitled.put(node, shares[i]);
            if (node.children != null && node.tenant == null) {
                entitle(node.children, shares[i]);
            }
        }
    }

    private double[] shares(List<SchedulingNode> all, double capacity) {
        List<Demand> demands = new ArrayList<>(all.size());
        for (SchedulingNode node : all) {
            double asked = wanted(node).asked();
            demands.add(new Demand(node.weight(), Math.min(asked, node.settings.guaranteed()), asked));
        }
        return WaterFilling.shares(Math.max(0, capacity), demands);
    }
}
