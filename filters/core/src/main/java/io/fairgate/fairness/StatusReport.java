package io.fairgate.fairness;

import io.fairgate.fairness.PoolStatus.GroupStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.WaterFilling.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns the scheduler's state into a {@link PoolStatus}; the clocks must have been brought forward. */
final class StatusReport {

    private final SharePath path;
    private final ShareTree tree;
    private final Map<Share, Wanted> wanted = new HashMap<>();
    private final Map<Share, Double> entitled = new HashMap<>();

    StatusReport(SharePath path, ShareTree tree) {
        this.path = path;
        this.tree = tree;
    }

    PoolStatus make() {
        entitle(path.top, path.permits - wantedBelow(path.top).idle());
        List<TenantStatus> tenants = new ArrayList<>(tree.tenants().size());
        for (Share share : tree.tenants()) {
            if (share.tenant != null) {
                tenants.add(new TenantStatus(
                        share.tenant,
                        groupOf(share),
                        share.weight(),
                        share.inFlight,
                        share.waiting,
                        entitled.getOrDefault(share, 0.0),
                        Duration.ofNanos(share.heldNanos(path.now())),
                        lag(share)));
            }
        }
        List<GroupStatus> groups = new ArrayList<>();
        for (Share share : tree.groups().values()) {
            groups.add(new GroupStatus(
                    share.name,
                    groupOf(share),
                    share.weight(),
                    share.inFlight,
                    share.waiting,
                    entitled.getOrDefault(share, 0.0),
                    lag(share)));
        }
        Claim collecting = path.top.collected.claim;
        return new PoolStatus(
                path.permits,
                path.pool.inFlight,
                path.pool.waiting,
                collecting == null ? 0 : collecting.permits(),
                Duration.ofNanos(path.top.gain.nanos()),
                tenants,
                groups);
    }

    private static @Nullable String groupOf(Share share) {
        Share parent = share.parent();
        return parent.isPool() ? null : parent.name;
    }

    /** Who is not backlogged and behind will be lifted to the level when it joins: it is not behind. */
    private static Duration lag(Share share) {
        Siblings siblings = share.siblings();
        boolean owesNothing = share.isIdle() && siblings.hasIdledEnough(share);
        double behind = owesNothing ? 0 : siblings.lag(share);
        return Duration.ofNanos((long) (share.backlogged ? behind : Math.min(0, behind)));
    }

    // ---- entitlements: level by level, what a node gets is filled up like water among those below it ----

    /**
     * What a node has a use for.
     *
     * @param asked permits held and asked for, as far as caps allow
     * @param idle permits that are reserved for it and not asked for: they are nobody's
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
        double idle = 0;
        for (Share share : siblings.all) {
            Wanted one = wanted(share);
            asked += one.asked();
            idle += one.idle();
        }
        return new Wanted(asked, idle);
    }

    private void entitle(Siblings siblings, double capacity) {
        List<Share> all = List.copyOf(siblings.all);
        List<Demand> demands = new ArrayList<>(all.size());
        for (Share share : all) {
            double asked = wanted(share).asked();
            demands.add(new Demand(share.weight(), Math.min(asked, share.settings.guaranteed()), asked));
        }
        double[] shares = WaterFilling.shares(Math.max(0, capacity), demands);
        for (int i = 0; i < shares.length; i++) {
            Share share = all.get(i);
            entitled.put(share, shares[i]);
            if (share.below != null) {
                entitle(share.below, shares[i]);
            }
        }
    }
}
