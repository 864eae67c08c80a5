package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.ComparisonRun.Measurement;
import io.fairgate.benchmarks.load.Load;
import io.fairgate.benchmarks.load.LoadClient;
import io.fairgate.benchmarks.load.LoadResult;
import io.fairgate.benchmarks.load.UpstreamProcess;
import io.fairgate.benchmarks.load.UpstreamProcess.SlowService;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures how well gateways protect a quiet tenant from a noisy one, in front of an upstream with a fixed capacity.
 * Writes {@code docs/reports/gateway-isolation.md} and its picture.
 */
public final class Isolation {

    /** Of the noisy tenant: ten times what the upstream can work on at a time. */
    static final int NOISY_CONNECTIONS = 10 * UpstreamProcess.SERVERS;

    /** Of the quiet tenant: half of its fair share. */
    static final int QUIET_CONNECTIONS = UpstreamProcess.SERVERS / 4;

    /** Of each of two tenants. */
    static final int FAIR_SHARE = UpstreamProcess.SERVERS / 2;

    /** Of each of two tenants: what its share of the upstream can answer in a second. */
    static final int FAIR_RATE =
            (int) (FAIR_SHARE * Duration.ofSeconds(1).toNanos() / UpstreamProcess.SERVICE.toNanos());

    private static final List<String> NOISY = List.of("noisy");
    private static final List<String> QUIET = List.of("quiet");

    /** So many that none of them reaches a limit of its own during the warm-up. */
    private static final List<String> WARM_UP =
            IntStream.rangeClosed(1, 200).mapToObj(tenant -> "w" + tenant).toList();

    /** A path that the upstream answers at once. */
    private static final String FAST = "/x";

    private static final int WARM_UP_CONNECTIONS = 32;

    /** At the beginning of each measurement, until the queues are as long as they become. */
    private static final Duration LEAD_IN = Duration.ofSeconds(2);

    private static final String REDIS_LIMITER = """
            `RequestRateLimiter` for each tenant, with `replenishRate` and `burstCapacity` of %d: half of what the
            upstream can answer in a second.
            """.formatted(FAIR_RATE);

    private static final String BULKHEAD = """
            A bulkhead of Resilience4j for each tenant, with `maxConcurrentCalls` of %d: half of what the upstream can
            work on at a time. `maxWaitDuration` is 0, because a bulkhead with a longer one blocks the event loop.
            """.formatted(FAIR_SHARE);

    private static final String POOL = """
            `FairShare` with a pool of %d permits: what the upstream can work on at a time. Both tenants have the same
            plan. All else is the default.
            """.formatted(UpstreamProcess.SERVERS);

    static final List<Peer> PEERS = List.of(
            Peers.spring(),
            Peers.redisLimiter(REDIS_LIMITER, FAIR_RATE),
            Peers.bulkhead(BULKHEAD, FAIR_SHARE),
            Peers.fairgate(
                    "fg",
                    "Fairgate",
                    POOL,
                    new FairgatePolicy(
                            Stream.of(NOISY, QUIET, WARM_UP)
                                    .flatMap(List::stream)
                                    .toList(),
                            "",
                            UpstreamProcess.SERVERS,
                            "FairShare=pool")));

    /**
     * One measurement.
     *
     * @param alone the quiet tenant, while the noisy one sends nothing
     * @param quiet the quiet tenant, beside the noisy one
     * @param noisy the noisy tenant
     * @param utilisation the share of the upstream's capacity that was used, with both
     * @param mostAtOnce the most requests in the upstream at a time, with both
     */
    record IsolationSample(
            Tenant alone, Tenant quiet, Tenant noisy, double utilisation, double mostAtOnce, double others)
            implements ComparisonRun.Sample {

        /** The forwarded requests of the quiet tenant, compared with those that it gets alone. */
        double goodput() {
            return quiet.perSecond() / alone.perSecond();
        }
    }

    /** What a tenant got: forwarded requests, their latencies in milliseconds, and refusals. */
    record Tenant(double perSecond, double p50, double p95, double p99, double refusedPerSecond) {

        static Tenant of(LoadResult result) {
            return new Tenant(
                    result.perSecond(),
                    result.latencies().percentile(50),
                    result.latencies().percentile(95),
                    result.latencies().percentile(99),
                    result.refused() / (result.time().toNanos() / 1e9));
        }
    }

    private Isolation() {}

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        ComparisonRun run = ComparisonRun.of(args);
        String machine = Machine.describe();
        try (LoadClient quiet = new LoadClient();
                LoadClient noisy = new LoadClient()) {
            Samples<IsolationSample> samples =
                    run.measure(PEERS, new IsolationMeasurement(quiet, noisy, run.schedule()));
            IsolationReport report = new IsolationReport(machine, run.schedule(), samples);
            run.publish(Path.of(args[2]), "gateway-isolation", report.text(), report.picture());
        }
    }

    private record IsolationMeasurement(LoadClient quiet, LoadClient noisy, Schedule schedule)
            implements Measurement<IsolationSample> {

        @Override
        public void warmUp(RunningPeer peer) {
            quiet.run(Load.times(schedule.warmUpRequests(), peer.port(), FAST, WARM_UP, WARM_UP_CONNECTIONS));
        }

        @Override
        public IsolationSample measure(RunningPeers peers, RunningPeer peer) throws IOException, InterruptedException {
            UpstreamProcess upstream = peers.surroundings().upstream();
            Load few = load(peer, QUIET, QUIET_CONNECTIONS);
            Load many = load(peer, NOISY, NOISY_CONNECTIONS);
            peers.otherProcessors();
            LoadResult alone = quiet.run(few);
            CompletableFuture<LoadResult> noisyResult = noisy.start(many);
            CompletableFuture<LoadResult> quietResult = quiet.start(few);
            Thread.sleep(LEAD_IN.toMillis());
            long from = System.nanoTime();
            SlowService before = upstream.slowService();
            Thread.sleep(schedule.time().toMillis());
            double nanos = System.nanoTime() - from;
            SlowService after = upstream.slowService();
            return new IsolationSample(
                    Tenant.of(alone),
                    Tenant.of(LoadClient.await(few, quietResult)),
                    Tenant.of(LoadClient.await(many, noisyResult)),
                    after.busy().minus(before.busy()).toNanos() / nanos / UpstreamProcess.SERVERS,
                    after.mostAtOnce(),
                    peers.otherProcessors());
        }

        private Load load(RunningPeer peer, List<String> tenants, int connections) {
            return Load.during(schedule.time(), peer.port(), UpstreamProcess.SLOW, tenants, connections)
                    .after(LEAD_IN);
        }
    }
}
