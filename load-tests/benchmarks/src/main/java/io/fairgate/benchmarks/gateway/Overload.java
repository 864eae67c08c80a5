package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.load.Arrivals;
import io.fairgate.benchmarks.load.ArrivalsResult;
import io.fairgate.benchmarks.load.Load;
import io.fairgate.benchmarks.load.LoadClient;
import io.fairgate.benchmarks.process.OtherPrograms;
import io.fairgate.benchmarks.process.Processors;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Measures what Fairgate serves at up to ten times the load that it can carry, with its protection from overload and
 * without. Writes {@code docs/reports/gateway-overload.md} and its picture.
 */
public final class Overload {

    /** The load, in times of what the gateway can carry. */
    static final List<Double> TIMES = List.of(0.5, 1.0, 2.0, 5.0, 10.0);

    /** What the modest tenant sends, in times of what the gateway can carry. */
    static final double MODEST = 0.1;

    /** Of the greedy tenant. The modest one has a tenth of them. */
    static final int CONNECTIONS = 6_000;

    static final int NEW_PER_SECOND = 2_000;
    static final Duration PATIENCE = Duration.ofMillis(500);
    static final Duration LEAD_IN = Duration.ofSeconds(5);

    /** While it is measured what the gateway can carry. */
    static final int PEAK_CONNECTIONS = 64;

    /** So few that a gateway is not overloaded before its code is compiled. */
    private static final int WARM_UP_CONNECTIONS = 4;

    private static final Duration REST = Duration.ofSeconds(2);
    private static final int ENOUGH_PERMITS = 100_000;
    private static final List<String> WARM_UP = List.of("warm-up");
    private static final String PATH = "/x";

    static final FairgatePolicy POLICY = new FairgatePolicy(
            List.of("greedy", "modest", "warm-up"), GatewayCost.QUOTAS, ENOUGH_PERMITS, "FairShare=pool");

    /** A way to run the gateway. */
    enum Setting {
        PROTECTED("50ms", "with the protection"),
        UNPROTECTED("0s", "without the protection");

        final String maxLag;
        final String title;

        Setting(String maxLag, String title) {
            this.maxLag = maxLag;
            this.title = title;
        }
    }

    /**
     * One measurement.
     *
     * @param round the number of the start
     * @param times the load, in times of what the gateway carries
     * @param others processors that other programs used meanwhile
     */
    record OverloadSample(
            Setting setting,
            int round,
            double times,
            Tenant greedy,
            Tenant modest,
            double lagSeconds,
            double heapMegabytes,
            double residentMegabytes,
            double others) {

        double served() {
            return greedy.served() + modest.served();
        }
    }

    /** What a tenant sent and got in a second, and the latencies of what was served, in milliseconds. */
    record Tenant(double arrived, double served, double refused, double gaveUp, double broken, double p50, double p99) {

        static Tenant of(ArrivalsResult result) {
            return new Tenant(
                    result.arrivedPerSecond(),
                    result.goodput(),
                    result.refusedPerSecond(),
                    result.timedOutPerSecond(),
                    result.brokenPerSecond(),
                    result.latencies().percentile(50),
                    result.latencies().percentile(99));
        }
    }

    private final Schedule schedule;
    private final LoadClient greedy = new LoadClient();
    private final LoadClient modest = new LoadClient();

    private Overload(Schedule schedule) {
        this.schedule = schedule;
    }

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        ComparisonRun run = ComparisonRun.of(args);
        String machine = Machine.describe();
        Processors.useOnly(1);
        List<OverloadSample> samples = new Overload(run.schedule()).measure(run);
        OverloadReport report = new OverloadReport(machine, run.schedule(), samples);
        run.publish(Path.of(args[2]), "gateway-overload", report.text(), report.picture());
        System.exit(0);
    }

    private List<OverloadSample> measure(ComparisonRun run) throws IOException, InterruptedException {
        List<OverloadSample> samples = new ArrayList<>();
        for (int round = 1; round <= schedule.forks(); round++) {
            for (Setting setting : Setting.values()) {
                try (Surroundings surroundings = new Surroundings(run.jar(), run.folder());
                        LimitedGateway gateway = new LimitedGateway(surroundings, POLICY, setting.maxLag)) {
                    samples.addAll(measure(setting, round, surroundings, gateway));
                }
            }
        }
        return samples;
    }

    private List<OverloadSample> measure(Setting setting, int round, Surroundings surroundings, LimitedGateway gateway)
            throws IOException, InterruptedException {
        double carries = warmUp(gateway);
        OtherPrograms others = new OtherPrograms(() -> surroundings.used().plus(gateway.used()));
        List<OverloadSample> samples = new ArrayList<>();
        for (double times : TIMES) {
            others.processors();
            CompletableFuture<ArrivalsResult> many =
                    greedy.start(arrivals(gateway, "greedy", (times - times(times)) * carries, CONNECTIONS));
            CompletableFuture<ArrivalsResult> few =
                    modest.start(arrivals(gateway, "modest", times(times) * carries, CONNECTIONS / 10));
            ArrivalsResult greedyResult = many.join();
            ArrivalsResult modestResult = few.join();
            double other = others.processors();
            Thread.sleep(REST.toMillis());
            OverloadSample sample = new OverloadSample(
                    setting,
                    round,
                    times,
                    Tenant.of(greedyResult),
                    Tenant.of(modestResult),
                    gateway.highestLag(),
                    gateway.heapMegabytes(),
                    gateway.residentMegabytes(),
                    other);
            System.out.printf("%s%n", sample);
            samples.add(sample);
        }
        return samples;
    }

    /** The part of the modest tenant. */
    private static double times(double times) {
        return MODEST * Math.min(1, times);
    }

    private Arrivals arrivals(LimitedGateway gateway, String tenant, double perSecond, int connections) {
        return new Arrivals(
                gateway.port(), tenant, perSecond, connections, NEW_PER_SECOND, PATIENCE, LEAD_IN, schedule.time());
    }

    /** What the gateway can carry: the requests per second of a closed loop, when the code is compiled. */
    private double warmUp(LimitedGateway gateway) {
        for (int turn = 1; turn <= schedule.warmUps(); turn++) {
            modest.run(closed(schedule.warmUpRequests(), gateway, WARM_UP_CONNECTIONS));
        }
        double carries = modest.run(closed(2 * schedule.warmUpRequests(), gateway, PEAK_CONNECTIONS))
                .perSecond();
        System.out.printf("it carries %.0f/s%n", carries);
        return carries;
    }

    private static Load closed(long requests, LimitedGateway gateway, int connections) {
        return Load.times(requests, gateway.port(), PATH, WARM_UP, connections);
    }
}
