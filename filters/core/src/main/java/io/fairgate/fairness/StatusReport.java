package io.fairgate.fairness;

import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.WaterFilling.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the scheduler's state into a {@link PoolStatus}. */
record StatusReport(
        int permits,
        int inFlight,
        int waiting,
        @Nullable Claim pin,
        long horizonNanos,
        double level,
        long contendedNow,
        long now) {

    PoolStatus of(Collection<TenantShare> tenants) {
        double[] entitled = entitlements(tenants);
        List<TenantStatus> statuses = new ArrayList<>(tenants.size());
        int i = 0;
        for (TenantShare share : tenants) {
            statuses.add(new TenantStatus(
                    share.id,
                    share.weight(),
                    share.inFlight,
                    share.queue.size(),
                    entitled[i++],
                    Duration.ofNanos(share.heldNanos(now)),
                    nanos(lag(share))));
        }
        return new PoolStatus(
                permits, inFlight, waiting, pin == null ? 0 : pin.permits(), Duration.ofNanos(horizonNanos), statuses);
    }

    /** Who is not backlogged and behind will be lifted to the level when it joins: it is not behind. */
    private double lag(TenantShare share) {
        double behind = level * share.weightUnits() - share.served(contendedNow);
        return share.backlogged ? behind : Math.min(0, behind);
    }

    /** Reserved permits that their tenant does not ask for are nobody's; the rest is filled up like water. */
    private double[] entitlements(Collection<TenantShare> tenants) {
        List<Demand> demands = new ArrayList<>(tenants.size());
        double capacity = permits;
        for (TenantShare share : tenants) {
            double asked = Math.min(share.settings.maxInFlight(), share.inFlight + (double) share.queue.permits());
            demands.add(new Demand(share.weight(), Math.min(asked, share.settings.guaranteed()), asked));
            capacity -= Math.max(0, share.settings.reserved() - asked);
        }
        return WaterFilling.shares(Math.max(0, capacity), demands);
    }

    private static Duration nanos(double nanos) {
        return Duration.ofNanos((long) nanos);
    }
}
