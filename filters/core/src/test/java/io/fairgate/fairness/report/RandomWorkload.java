package io.fairgate.fairness.report;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random workloads of 1 to 20 permits and 2 to 7 tenants. In half of them weights are from 0.5 to 5 and mean holds from 50 ms to
 * 3 s; in the others weights are spread over three orders of magnitude and mean holds over two, with heavy tails, so that holds are
 * between 5 ms and a minute.
 */
final class RandomWorkload {

    /** An unlimited memory, and collections without an end. */
    static final FairnessSettings NEVER_FORGETS =
            new FairnessSettings(FairnessSettings.UNBOUNDED, FairnessSettings.UNBOUNDED);

    private static final Duration LENGTH = Duration.ofMinutes(10);

    private final Random random;
    private final long seed;
    private final int permits;
    private final int tenants;
    private final int mostAsked;
    private final boolean wide;
    private final Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
    private double longestMean;

    RandomWorkload(long seed) {
        this(seed, 4);
    }

    RandomWorkload(long seed, int mostAsked) {
        this.seed = seed;
        this.random = new Random(seed);
        this.permits = 1 + random.nextInt(20);
        this.tenants = 2 + random.nextInt(6);
        this.mostAsked = random.nextBoolean() ? 1 : Math.min(permits, mostAsked);
        this.wide = random.nextBoolean();
        for (int i = 0; i < tenants; i++) {
            double weight = wide ? anyOrder(0.1, 3) : 0.5 + 4.5 * random.nextDouble();
            members.put(TenantId.of("t" + i), ShareSettings.ofWeight(weight));
        }
    }

    /** Spread evenly over this many orders of magnitude above the least. */
    private double anyOrder(double least, double orders) {
        return least * StrictMath.pow(10, orders * random.nextDouble());
    }

    /** Every tenant is backlogged from the beginning to the end. */
    Workload backlogged(FairnessSettings settings) {
        List<Load> loads = new ArrayList<>();
        members.keySet().forEach(tenant -> loads.add(load(tenant, 2 * permits + 5)));
        return workload(loads, settings);
    }

    /** Tenants come and go; some want less than their share. */
    Workload comingAndGoing(FairnessSettings settings) {
        List<Load> loads = new ArrayList<>();
        for (TenantId tenant : members.keySet()) {
            int connections = random.nextInt(4) == 0 ? 1 + random.nextInt(permits) : 2 * permits + 5;
            double from = random.nextInt(3) == 0 ? 0 : random.nextDouble() * 200;
            double until = random.nextBoolean() ? 600 : from + 50 + random.nextDouble() * 200;
            loads.add(load(tenant, connections).from(seconds(from)).until(seconds(until)));
            if (until < 400) {
                loads.add(load(tenant, 2 * permits + 5).from(seconds(until + 50 + random.nextDouble() * 100)));
            }
        }
        return workload(loads, settings);
    }

    /** All but the last are backlogged from the beginning, the last joins them. */
    Workload joinedAt(Duration at) {
        List<Load> loads = new ArrayList<>();
        members.keySet().forEach(tenant -> loads.add(load(tenant, 2 * permits + 5)));
        loads.add(loads.remove(loads.size() - 1).from(at));
        return workload(loads, FairnessSettings.USUAL);
    }

    private Load load(TenantId tenant, int connections) {
        double mean = wide ? anyOrder(0.03, 2) : 0.05 + 3 * random.nextDouble();
        longestMean = Math.max(longestMean, mean);
        Holds holds = switch (random.nextInt(wide ? 5 : 3)) {
            case 0 -> Holds.constant(seconds(mean));
            case 1 -> Holds.uniform(seconds(mean), 0.9);
            case 2 -> Holds.exponential(seconds(mean));
            case 3 -> Holds.pareto(seconds(mean));
            default -> Holds.bimodal(seconds(mean), 0.02);
        };
        return Load.of(tenant.value(), connections, holds).asking(1 + random.nextInt(mostAsked));
    }

    /** The gain is fixed, and about twice a hold. */
    private Workload workload(List<Load> loads, FairnessSettings settings) {
        Duration gain = seconds(longestMean * (1 + 2 * random.nextDouble()));
        return new Workload(
                permits, new TenantShares(members, ShareSettings.EQUAL), loads, LENGTH, settings, gain, seed);
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }
}
