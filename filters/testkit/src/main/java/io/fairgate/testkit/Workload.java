package io.fairgate.testkit;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;

/**
 * A pool and the loads of its tenants.
 *
 * @param settings the settings of the scheduler
 * @param gain a fixed gain of the key; zero for a gain that follows the holds
 * @param seed the seed of the random holds
 */
public record Workload(
        int permits,
        TenantShares shares,
        List<Load> loads,
        Duration length,
        FairnessSettings settings,
        Duration gain,
        long seed) {

    public Workload {
        loads = List.copyOf(loads);
    }

    /** With the default settings, and a gain that follows the holds. */
    public static Workload of(int permits, TenantShares shares, Duration length, long seed, Load... loads) {
        return new Workload(permits, shares, List.of(loads), length, FairnessSettings.USUAL, Duration.ZERO, seed);
    }

    /** With a fixed gain. */
    public Workload withGain(Duration gain) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    public Workload withSettings(FairnessSettings settings) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    public Workload seeded(long seed) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    /** The tenants, in the order of their first loads; a tenant may have several loads, one after another. */
    public List<TenantId> tenants() {
        return loads.stream().map(Load::tenant).distinct().toList();
    }

    public double weightOf(int tenant) {
        return shares.of(tenants().get(tenant)).weight();
    }
}
