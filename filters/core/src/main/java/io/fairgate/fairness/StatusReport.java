package io.fairgate.fairness;

import io.fairgate.fairness.WaterFilling.Demand;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link PoolStatus} from the scheduler's state, of the nodes that {@code selection} selects. An idle node
 * matters to the others only by what it reserves.
 */
final class StatusReport {

    private final HierarchyWalks walks;
    private final Function<SchedulingGroup, List<SchedulingNode>> selection;
    private final Map<SchedulingGroup, List<SchedulingNode>> selected = new HashMap<>();
    private final Map<SchedulingNode, Wanted> wanted = new HashMap<>();
    /** The permits that each tenant and each group is entitled to. */
    private final Map<SchedulingNode, Double> entitled = new HashMap<>();

    /** @param selection selects the children of a node to report: at least all that are not idle */
    StatusReport(HierarchyWalks walks, Function<SchedulingGroup, List<SchedulingNode>> selection) {
        this.walks = walks;
        this.selection = selection;
        entitle(walks.top, walks.permits - wantedByChildren(walks.top).idle());
    }

    private List<SchedulingNode> nodes(SchedulingGroup siblings) {
        return selected.computeIfAbsent(siblings, those -> {
            walks.tick(those);
            return selection.apply(those);
        });
    }

    PoolStatus make() {
        QueuedRequest collecting = walks.top.collected.request;
        return new PoolStatus(
                walks.permits,
                walks.pool.inFlight,
                walks.pool.waiting,
                collecting == null ? 0 : collecting.permits(),
                Duration.ofNanos(walks.top.gain.nanos()),
                inOrder(node -> node.tenant != null, node -> tenant(node, Objects.requireNonNull(node.tenant))),
                inOrder(node -> node.tenant == null, this::group));
    }

    /** The permits that a tenant or a group is entitled to. */
    double share(SchedulingNode node) {
        return entitled.getOrDefault(node, 0.0);
    }

    private TenantStatus tenant(SchedulingNode node, TenantId id) {
        return new TenantStatus(
                id,
                groupOf(node),
                node.weight(),
                node.inFlight,
                node.waiting,
                share(node),
                Duration.ofNanos(node.heldNanos(walks.now)),
                lag(node));
    }

    private GroupStatus group(SchedulingNode node) {
        return new GroupStatus(
                node.name, groupOf(node), node.weight(), node.inFlight, node.waiting, share(node), lag(node));
    }

    /** The status of each node that passes the test, in the order in which the nodes were made. */
    private <T> List<T> inOrder(Predicate<SchedulingNode> test, Function<SchedulingNode, T> status) {
        return entitled.keySet().stream()
                .filter(test)
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
        Wanted children = node.children == null
                ? new Wanted(node.inFlight + (double) node.queue.permits(), 0)
                : wantedByChildren(node.children);
        double asked = Math.min(node.cap() - children.idle(), children.asked());
        return new Wanted(asked, Math.max(children.idle(), node.settings.reserved() - asked));
    }

    private Wanted wantedByChildren(SchedulingGroup siblings) {
        double asked = 0;
        double idle = siblings.reserved;
        for (SchedulingNode node : nodes(siblings)) {
            Wanted one = wanted(node);
            wanted.put(node, one);
            asked += one.asked();
            idle += one.idle() - node.keeps();
        }
        return new Wanted(asked, idle);
    }

    private void entitle(SchedulingGroup siblings, double capacity) {
        List<SchedulingNode> all = nodes(siblings);
        double[] shares = WaterFilling.shares(
                Math.max(0, capacity), all.stream().map(this::demand).toList());
        for (int i = 0; i < shares.length; i++) {
            SchedulingNode node = all.get(i);
            entitled.put(node, shares[i]);
            if (node.children != null && node.tenant == null) {
                entitle(node.children, shares[i]);
            }
        }
    }

    private Demand demand(SchedulingNode node) {
        double asked = Objects.requireNonNull(wanted.get(node)).asked();
        return new Demand(node.weight(), Math.min(asked, node.settings.guaranteed()), asked);
    }
}
