package io.fairgate.testkit;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;

/**
 * A pool and what its tenants do to it.
 *
 * @param settings what the scheduler's rules are set to
 * @param gain the gain of the key for good; zero lets it follow the holds
 * @param seed of the holds
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

    /** With the settings that a gateway uses. */
    public static Workload of(int permits, TenantShares shares, Duration length, long seed, Load... loads) {
        return new Workload(permits, shares, List.of(loads), length, FairnessSettings.USUAL, Duration.ZERO, seed);
    }

    /** With a gain that does not follow the holds. */
    public Workload withGain(Duration gain) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    public Workload withSettings(FairnessSettings settings) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    public Workload seeded(long seed) {
        return new Workload(permits, shares, loads, length, settings, gain, seed);
    }

    /** In the order of their first loads; a tenant may have several, one after another. */
    public List<TenantId> tenants() {
        return loads.stream().map(Load::tenant).distinct().toList();
    }

    double weightOf(int tenant) {
        return shares.of(tenants().get(tenant)).weight();
    }
}
