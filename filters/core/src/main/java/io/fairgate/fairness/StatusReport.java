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

    private final SharePath path;
    private final Function<Siblings, List<Share>> nodes;
    private final Map<Siblings, List<Share>> looked = new HashMap<>();
    private final Map<Share, Wanted> wanted = new HashMap<>();
    private final Map<Share, Double> entitled = new HashMap<>();
    private final List<Share> tenants = new ArrayList<>();
    private final List<Share> groups = new ArrayList<>();

    /** @param nodes selects the children of a node to report: at least all that are not idle */
    StatusReport(SharePath path, Function<Siblings, List<Share>> nodes) {
        this.path = path;
        this.nodes = nodes;
    }

    private List<Share> nodes(Siblings siblings) {
        return looked.computeIfAbsent(siblings, those -> {
            path.tick(those);
            return nodes.apply(those);
        });
    }

    PoolStatus make() {
        entitle(path.top, forAll());
        collect(path.top);
        QueuedRequest collecting = path.top.collected.claim;
        return new PoolStatus(
                path.permits,
                path.pool.inFlight,
                path.pool.waiting,
                collecting == null ? 0 : collecting.permits(),
                Duration.ofNanos(path.top.gain.nanos()),
                inOrder(tenants, share -> tenant(share, Objects.requireNonNull(share.tenant))),
                inOrder(groups, this::group));
    }

    /** The permits that a node is entitled to. */
    double share(Share node) {
        if (node.isPool()) {
            return forAll();
        }
        List<Share> all = nodes(node.siblings());
        return shares(all, share(node.parent()))[all.indexOf(node)];
    }

    private double forAll() {
        return path.permits - wantedBelow(path.top).idle();
    }

    /** Adds the nodes to the lists of tenants and groups, and goes down into the groups. */
    private void collect(Siblings siblings) {
        for (Share share : nodes(siblings)) {
            if (share.tenant != null) {
                tenants.add(share);
            } else if (share.below != null) {
                groups.add(share);
                collect(share.below);
            }
        }
    }

    private TenantStatus tenant(Share share, TenantId id) {
        return new TenantStatus(
                id,
                groupOf(share),
                share.weight(),
                share.inFlight,
                share.waiting,
                entitled.getOrDefault(share, 0.0),
                Duration.ofNanos(share.heldNanos(path.now())),
                lag(share));
    }

    private GroupStatus group(Share share) {
        return new GroupStatus(
                share.name,
                groupOf(share),
                share.weight(),
                share.inFlight,
                share.waiting,
                entitled.getOrDefault(share, 0.0),
                lag(share));
    }

    /** The status of each node, in the order in which the nodes were made. */
    private static <T> List<T> inOrder(List<Share> shares, Function<Share, T> status) {
        return shares.stream()
                .sorted(Comparator.comparingLong(share -> share.ordinal))
                .map(status)
                .toList();
    }

    private static @Nullable String groupOf(Share share) {
        Share parent = share.parent();
        return parent.isPool() ? null : parent.name;
    }

    /** The lag of a node. A node that is not backlogged is never reported as behind: it is raised when it joins. */
    private static Duration lag(Share share) {
        Siblings siblings = share.siblings();
        boolean owesNothing = share.isIdle() && siblings.hasIdledEnough(share);
        double behind = owesNothing ? 0 : siblings.lag(share);
        return Duration.ofNanos((long) (share.backlogged ? behind : Math.min(0, behind)));
    }

    // ---- entitlements: from the pool down, water filling divides the share of each node between its children ----

    /**
     * The demand of a node.
     *
     * @param asked permits held and asked for, as far as caps allow
     * @param idle permits that are reserved for the node and not asked for; no other node may use them
     */
    private record Wanted(double asked, double idle) {}

    private Wanted wanted(Share share) {
        Wanted known = wanted.get(share);
        if (known != null) {
            return known;
        }
        Wanted below = share.below == null
                ? new Wanted(share.inFlight + (double) share.queue.permits(), 0)
                : wantedBelow(share.below);
        double asked = Math.min(share.cap() - below.idle(), below.asked());
        Wanted result = new Wanted(asked, Math.max(below.idle(), share.settings.reserved() - asked));
        wanted.put(share, result);
        return result;
    }

    private Wanted wantedBelow(Siblings siblings) {
        double asked = 0;
        double idle = siblings.reserved;
        for (Share share : nodes(siblings)) {
            Wanted one = wanted(share);
            asked += one.asked();
            idle += one.idle() - share.keeps();
        }
        return new Wanted(asked, idle);
    }

    private void entitle(Siblings siblings, double capacity) {
        List<Share> all = nodes(siblings);
        double[] shares = shares(all, capacity);
        for (int i = 0; i < shares.length; i++) {
            Share share = all.get(i);
            entitled.put(share, shares[i]);
            if (share.below != null && share.tenant == null) {
                entitle(share.below, shares[i]);
            }
        }
    }

    private double[] shares(List<Share> all, double capacity) {
        List<Demand> demands = new ArrayList<>(all.size());
        for (Share share : all) {
            double asked = wanted(share).asked();
            demands.add(new Demand(share.weight(), Math.min(asked, share.settings.guaranteed()), asked));
        }
        return WaterFilling.shares(Math.max(0, capacity), demands);
    }
}
