package io.fairgate.fairness.report;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.PermitTime;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tenants with long holds beside tenants with short ones: all combinations of lengths, distributions, numbers of permits and
 * tenants, weights, and clients that leave or stay, with the settings of a gateway.
 *
 * @param kind the distribution of the holds
 * @param ratio the mean of the long holds, in means of the short ones, which are 2 ms
 * @param tenants half of them have long holds and the weight 1
 * @param weight that of the tenants with short holds
 * @param leaving the part of the requests whose clients leave, while they wait or right after the grant
 */
record Regimes(Kind kind, int ratio, int permits, int tenants, int weight, double leaving) {

    /** How far the share of the tenants with long holds may be from the expected one, within the memory. */
    static final double TOLERANCE = 0.05;

    private static final double SHORT_SECONDS = 0.002;
    private static final double MEMORY_SECONDS =
            (double) FairnessSettings.USUAL.memory().toSeconds();
    /** How often at least a tenant pays back a long hold in a simulation. */
    private static final int DEBTS = 8;
    /** The least number of long holds that a simulation must have on average. */
    private static final int LONG_HOLDS = 60;

    private static final int[] RATIOS = {1, 10, 100, 1000};
    private static final int[] PERMITS = {1, 4, 10};
    private static final int[] TENANTS = {2, 20};
    private static final int[] WEIGHTS = {1, 3, 100};
    private static final double[] LEAVING = {0, 1 / 3.0};

    /** A distribution, and the factor by which its tail increases the number of simulated requests. */
    enum Kind {
        CONSTANT(1),
        EXPONENTIAL(1),
        PARETO(8),
        BIMODAL(4);

        private final int effort;

        Kind(int effort) {
            this.effort = effort;
        }

        /** In seconds; an exponential hold is hardly ever ten times the mean. */
        private double longest(double mean) {
            return switch (this) {
                case CONSTANT -> mean;
                case EXPONENTIAL, BIMODAL -> 10 * mean;
                case PARETO -> 60;
            };
        }

        private Holds of(Duration mean) {
            return switch (this) {
                case CONSTANT -> Holds.constant(mean);
                case EXPONENTIAL -> Holds.exponential(mean);
                case PARETO -> Holds.pareto(mean);
                case BIMODAL -> Holds.bimodal(mean, 0.1);
            };
        }
    }

    static List<Regimes> all() {
        List<Regimes> all = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (int ratio : RATIOS) {
                for (double leaving : LEAVING) {
                    for (int permits : PERMITS) {
                        for (int tenants : TENANTS) {
                            for (int weight : WEIGHTS) {
                                all.add(new Regimes(kind, ratio, permits, tenants, weight, leaving));
                            }
                        }
                    }
                }
            }
        }
        return all;
    }

    /**
     * Whether the debt of the longest hold can be paid back within the memory: {@code hold * W / (w * N)}. A longer debt is
     * forgotten in part.
     */
    boolean isWithinMemory() {
        return secondsToWorkOff(kind.longest(SHORT_SECONDS * ratio)) <= MEMORY_SECONDS;
    }

    private double secondsToWorkOff(double hold) {
        double weights = tenants / 2.0 * (1 + weight);
        return hold * weights / permits;
    }

    double wanted() {
        return 1.0 / (1 + weight);
    }

    /** The share of permit-time of all tenants with long holds together. */
    double measured(int thousandRequests) {
        Workload workload = workload(1_000.0 * thousandRequests * kind.effort * (ratio == 1_000 ? 4 : 1));
        PermitTime time = Simulation.measure(workload, workload.length().dividedBy(10));
        double share = 0;
        for (int i = 0; i < tenants / 2; i++) {
            share += time.share(i);
        }
        return share;
    }

    private Workload workload(double requests) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        Load[] loads = new Load[tenants];
        double longSeconds = SHORT_SECONDS * ratio;
        for (int i = 0; i < tenants; i++) {
            boolean isLong = i < tenants / 2;
            members.put(TenantId.of("t" + i), ShareSettings.ofWeight(isLong ? 1 : weight));
            Duration mean = Duration.ofNanos(Math.round(1e9 * (isLong ? longSeconds : SHORT_SECONDS)));
            loads[i] = Load.of("t" + i, 2 * permits + 3, kind.of(mean)).leaving(leaving);
        }
        double requestsASecond = permits * (wanted() / longSeconds + (1 - wanted()) / SHORT_SECONDS);
        double debt = Math.min(secondsToWorkOff(longSeconds), MEMORY_SECONDS);
        double enough = Math.max(DEBTS * debt, LONG_HOLDS * longSeconds / wanted() / permits);
        double seconds = Math.max(enough, Math.max(60, requests / requestsASecond));
        Duration length = Duration.ofNanos(Math.round(1e9 * seconds));
        return Workload.of(permits, new TenantShares(members, ShareSettings.EQUAL), length, 1, loads);
    }
}
