package io.fairgate.fairness.report;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.shares.ShareGroups.Group;
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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Tenants with large requests beside tenants with requests of one permit; ten minutes of each scenario. */
final class LargeRequestScenarios {

    private static final Duration LENGTH = Duration.ofMinutes(10);
    private static final Duration FROM = Duration.ofSeconds(5);
    private static final Holds SHORT = Holds.constant(Duration.ofMillis(50));
    private static final Holds EXPONENTIAL = Holds.exponential(Duration.ofMillis(50));

    private LargeRequestScenarios() {}

    /**
     * @param others the tenants with requests of one permit, and the smallest part of the pool that each must get
     * @param collectors the tenants with large requests
     */
    record Scenario(String name, Map<String, Double> others, List<String> collectors, Workload workload) {

        Result run() {
            PermitTime time = Simulation.measure(workload, FROM);
            List<String> tenants =
                    workload.tenants().stream().map(TenantId::value).toList();
            List<Double> parts = new ArrayList<>();
            double gap = 0;
            for (String other : others.keySet()) {
                int i = tenants.indexOf(other);
                parts.add(time.partOfPool(i));
                gap = Math.max(gap, time.longestGapSeconds(i));
            }
            double used = 0;
            double all = 0;
            for (int i = 0; i < tenants.size(); i++) {
                all += time.partOfPool(i);
                used += collectors.contains(tenants.get(i)) ? time.partOfPool(i) : 0;
            }
            return new Result(parts, used, 1 - all, gap);
        }
    }

    /** Parts of the pool's permit-time, and the longest time in which one of the others waited without a grant. */
    record Result(List<Double> others, double used, double idle, double gapSeconds) {}

    static List<Scenario> all() {
        Load a = Load.of("a", 20, SHORT);
        Load b = Load.of("b", 20, SHORT);
        Load c = Load.of("c", 20, SHORT);
        Load large = Load.of("large", 3, SHORT);
        Load e = Load.of("a", 20, EXPONENTIAL);
        Load f = Load.of("b", 20, EXPONENTIAL);
        return List.of(
                of(
                        "4 permits, one held for 60 s each time, three tenants of 50 ms, one request of 4 at a time",
                        4,
                        Map.of("a", .24, "b", .24, "c", .24),
                        Load.of("long", 1, Holds.constant(Duration.ofSeconds(60))),
                        a,
                        b,
                        c,
                        Load.of("large", 1, SHORT).asking(4)),
                of(
                        "10 permits, requests of 8 beside two tenants of 50 ms",
                        10,
                        Map.of("a", .33, "b", .33),
                        a,
                        b,
                        large.asking(8)),
                of(
                        "10 permits, requests of 10 beside two tenants of exponential 50 ms",
                        10,
                        Map.of("a", .33, "b", .33),
                        e,
                        f,
                        Load.of("large", 3, EXPONENTIAL).asking(10)),
                of(
                        "10 permits, three tenants with requests of 7 beside one of 50 ms",
                        10,
                        Map.of("a", .245),
                        a,
                        Load.of("large", 3, SHORT).asking(7),
                        Load.of("large2", 3, SHORT).asking(7),
                        Load.of("large3", 3, SHORT).asking(7)),
                of(
                        "10 permits, requests of 10 beside Pareto(1.2) and constant 50 ms",
                        10,
                        Map.of("a", .33, "b", .33),
                        Load.of("a", 20, Holds.pareto(Duration.ofMillis(50))),
                        b,
                        large.asking(10)),
                of(
                        "10 permits, requests of 10 beside exponential 5 s and constant 50 ms",
                        10,
                        Map.of("a", .33, "b", .33),
                        Load.of("a", 20, Holds.exponential(Duration.ofSeconds(5))),
                        b,
                        large.asking(10)),
                of(
                        "4 permits, requests of 4 whose clients always leave, beside two tenants of 50 ms",
                        4,
                        Map.of("a", .33, "b", .33),
                        e,
                        f,
                        Load.of("large", 3, EXPONENTIAL).asking(4).leaving(1)),
                grouped(
                        "10 permits, two groups: a and b; c and requests of 10",
                        ShareSettings.EQUAL,
                        10,
                        Map.of("a", .245, "b", .245, "c", .245)),
                grouped(
                        "10 permits, two groups: a and b; with a cap of 5, c and requests of 5",
                        ShareSettings.EQUAL.withMaxInFlight(5),
                        5,
                        Map.of("a", .25, "b", .25, "c", .235)));
    }

    private static Scenario of(String name, int permits, Map<String, Double> others, Load... loads) {
        return of(name, permits, TenantShares.EQUAL, others, loads);
    }

    private static Scenario of(
            String name, int permits, TenantShares shares, Map<String, Double> others, Load... loads) {
        List<String> collectors = List.of(loads).stream()
                .filter(load -> load.permits() > 1)
                .map(load -> load.tenant().value())
                .toList();
        Workload workload = Workload.of(permits, shares, LENGTH, 1, loads).withSettings(FairnessSettings.USUAL);
        return new Scenario(name, new TreeMap<>(others), collectors, workload);
    }

    private static Scenario grouped(String name, ShareSettings second, int requests, Map<String, Double> others) {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("one", Group.of(ShareSettings.EQUAL))
                .withGroup("two", Group.of(second));
        for (String tenant : List.of("a", "b")) {
            shares = shares.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "one");
        }
        for (String tenant : List.of("c", "large")) {
            shares = shares.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "two");
        }
        return of(
                name,
                10,
                shares,
                others,
                Load.of("a", 20, EXPONENTIAL),
                Load.of("b", 20, EXPONENTIAL),
                Load.of("c", 20, EXPONENTIAL),
                Load.of("large", 3, EXPONENTIAL).asking(requests));
    }
}
