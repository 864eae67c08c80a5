package io.fairgate.testkit;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;

/**
 * A pool and what its tenants do to it.
 *
 * @param horizon the scheduler's horizon for good; zero lets it follow the holds
 * @param theta bound of the lag
 * @param seed of the holds
 */
public record Workload(
        int permits,
        TenantShares shares,
        List<Load> loads,
        Duration length,
        Duration horizon,
        double theta,
        long seed) {

    public Workload {
        loads = List.copyOf(loads);
    }

    /** With the horizon and the bound of the lag that a gateway uses. */
    public static Workload of(int permits, TenantShares shares, Duration length, long seed, Load... loads) {
        return new Workload(permits, shares, List.of(loads), length, Duration.ZERO, FairScheduler.DEFAULT_THETA, seed);
    }

    /** With a horizon that does not follow the holds. */
    public Workload fixed(Duration horizon, double theta) {
        return new Workload(permits, shares, loads, length, horizon, theta, seed);
    }

    public Workload seeded(long seed) {
        return new Workload(permits, shares, loads, length, horizon, theta, seed);
    }

    /** In the order of their first loads; a tenant may have several, one after another. */
    public List<TenantId> tenants() {
        return loads.stream().map(Load::tenant).distinct().toList();
    }

    double weightOf(int tenant) {
        return shares.of(tenants().get(tenant)).weight();
    }
}
