package io.fairgate.fairness.report;

import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.EventLog;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The workloads of the fairness report. All are closed loops with an infinite backlog unless they say otherwise, holds
 * are uniform within half of their mean, and the first minute is not counted.
 */
final class ReportScenarios {

    /** How far a share may be from the wanted one. */
    static final double TOLERANCE = 0.005;

    /**
     * Backlogged tenants, and the expected share of each.
     *
     * @param wanted the shares of permit-time, one for each tenant
     * @param utilisation the least expected use of the pool
     */
    record Shares(String name, List<Double> wanted, double utilisation, Workload workload) {

        private static final Duration FROM = Duration.ofMinutes(1);

        List<Double> measured() {
            EventLog log = Simulation.run(workload);
            List<Double> shares = new ArrayList<>();
            for (int i = 0; i < wanted.size(); i++) {
                shares.add(log.share(i, FROM, workload.length()));
            }
            shares.add(log.utilisation(FROM, workload.length()));
            return shares;
        }
    }

    private static final Duration HOUR = Duration.ofHours(1);
    private static final int BACKLOG = 40;
    private static final int SEED = 1;

    private ReportScenarios() {}

    static List<Shares> shares() {
        Load a = load("a", 1);
        Load b = load("b", 1);
        double third = 1 / 3.0;
        return List.of(
                new Shares(
                        "10 permits, three equal tenants",
                        List.of(third, third, third),
                        1,
                        run(10, 1, a, b, load("c", 1))),
                new Shares(
                        "1 permit, requests of 10 s against requests of 1 s",
                        List.of(.5, .5),
                        1,
                        run(1, 1, load("a", 10), b)),
                new Shares(
                        "10 permits, requests of 5 s against requests of 0.1 s",
                        List.of(.5, .5),
                        1,
                        run(10, 1, load("a", 5), load("b", .1))),
                new Shares("10 permits, weights 1 to 1.7", List.of(1 / 2.7, 1.7 / 2.7), 1, run(10, 1.7, a, b)),
                new Shares("10 permits, weights 1 to 100", List.of(1 / 101.0, 100 / 101.0), 1, run(10, 100, a, b)),
                new Shares(
                        "10 permits, two tenants without limit, one that never wants more than 2",
                        List.of(.4, .4, .2),
                        1,
                        run(10, 1, a, b, Load.of("c", 2, a.holds()))));
    }

    private static Workload run(int permits, double weightOfB, Load... loads) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        members.put(TenantId.of("a"), ShareSettings.EQUAL);
        members.put(TenantId.of("b"), ShareSettings.ofWeight(weightOfB));
        return Workload.of(permits, new TenantShares(members, ShareSettings.EQUAL), HOUR, SEED, loads);
    }

    private static Load load(String tenant, double seconds) {
        return Load.of(tenant, BACKLOG, Holds.uniform(Duration.ofMillis(Math.round(seconds * 1_000)), 0.5));
    }

    /**
     * A tenant joins another that holds all ten permits, with requests of 5 s.
     *
     * @param first seconds until its first permit
     * @param half seconds until it holds five
     * @param firstBack seconds until the first release: no scheduler is faster without taking permits away
     * @param fifthBack the same for the fifth permit
     * @param starving the longest time in which the other held no permit
     */
    record Joiner(double first, double half, double firstBack, double fifthBack, double starving) {

        static Joiner at(Duration joins) {
            Workload workload = Workload.of(
                    10,
                    TenantShares.EQUAL,
                    joins.plusMinutes(1),
                    SEED,
                    load("a", 5),
                    load("b", 5).from(joins));
            EventLog log = Simulation.run(workload);
            List<Double> back = log.events().stream()
                    .filter(event -> event.kind() == EventLog.Kind.RELEASED && event.at() >= joins.toNanos())
                    .map(event -> (event.at() - joins.toNanos()) / 1e9)
                    .toList();
            return new Joiner(
                    seconds(log.firstHolding(1, 1).minus(joins)),
                    seconds(log.firstHolding(1, 5).minus(joins)),
                    back.get(0),
                    back.get(4),
                    seconds(log.longestStarving(0, joins)));
        }

        private static double seconds(Duration duration) {
            return duration.toNanos() / 1e9;
        }
    }

    /** The same at 200 moments, because the result depends on the times of the releases. */
    static List<Joiner> joiners() {
        List<Joiner> joiners = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            joiners.add(Joiner.at(Duration.ofMillis(300_000 + 1_370L * i)));
        }
        return joiners;
    }
}
