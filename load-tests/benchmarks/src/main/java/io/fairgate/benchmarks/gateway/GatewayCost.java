package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.ComparisonRun.Measurement;
import io.fairgate.benchmarks.load.Load;
import io.fairgate.benchmarks.load.LoadClient;
import io.fairgate.benchmarks.load.LoadResult;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Measures what a request costs in different gateways, none of which ever limits or delays a request here. Writes
 * {@code docs/reports/gateway-performance.md} and its picture.
 */
public final class GatewayCost {

    /** Of the load to the gateway. */
    static final int CONNECTIONS = 64;

    static final List<String> TENANTS =
            IntStream.rangeClosed(1, 16).mapToObj(tenant -> "t" + tenant).toList();

    private static final String PATH = "/x";
    private static final int ENOUGH = 1_000_000;
    private static final int ENOUGH_PERMITS = 1_000;
    static final String QUOTAS =
            "{ name: burst, limit: 1000000, per: 1s }, { name: daily, limit: 1000000000, per: day }";

    static final Peer BASE = Peers.spring();
    static final Peer PLAIN = Peers.fairgate(
            "fg-plain",
            "Fairgate plain",
            "Fairgate identifies the tenant; the route has no `FairShare`, and the tenants have no quotas.",
            new FairgatePolicy(TENANTS, "", ENOUGH_PERMITS, ""));
    static final Peer FULL = Peers.fairgate(
            "fg-full",
            "Fairgate full",
            "The route has `FairShare`, and each tenant has two quotas: units per second, and units per day.",
            new FairgatePolicy(TENANTS, QUOTAS, ENOUGH_PERMITS, "FairShare=pool"));

    static final Peer ON_REDIS = Peers.fairgateOnRedis(
            "fg-redis",
            "Fairgate full, through Redis",
            "The same with pools and quotas in Redis, which several gateways could share. Redis is on the same machine.",
            new FairgatePolicy(TENANTS, QUOTAS, ENOUGH_PERMITS, "FairShare=pool"));
    static final Peer REDIS_LIMITER = Peers.redisLimiter(
            "`RequestRateLimiter` for each tenant, with limits that are never reached. Redis is on the same machine.",
            ENOUGH);

    static final List<Peer> PEERS = List.of(
            Peers.raw(),
            BASE,
            REDIS_LIMITER,
            Peers.bulkhead(
                    "A bulkhead of Resilience4j for each tenant, with limits that are never reached.", ENOUGH_PERMITS),
            PLAIN,
            FULL,
            ON_REDIS);

    /**
     * One measurement.
     *
     * @param nanos processor time of the gateway for each request
     * @param redisNanos of Redis, for a gateway that asks it
     * @param bytes that the gateway allocates for each request
     * @param perSecond requests
     * @param p50 the latency in milliseconds that half of the requests do not exceed
     * @param p99 that of 99 % of them
     */
    record CostSample(
            double nanos, double redisNanos, double bytes, double perSecond, double p50, double p99, double others)
            implements ComparisonRun.Sample {}

    private GatewayCost() {}

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        ComparisonRun run = ComparisonRun.of(args);
        String machine = Machine.describe();
        try (LoadClient client = new LoadClient()) {
            Samples<CostSample> samples = run.measure(PEERS, new CostMeasurement(client, run.schedule()));
            GatewayCostReport report = new GatewayCostReport(machine, run.schedule(), samples);
            run.publish(Path.of(args[2]), "gateway-performance", report.text(), report.picture());
        }
    }

    /** So many requests to a gateway. */
    static Load times(long requests, RunningPeer peer) {
        return Load.times(requests, peer.port(), PATH, TENANTS, CONNECTIONS);
    }

    /** Requests to a gateway for so long. */
    static Load during(Duration time, RunningPeer peer) {
        return Load.during(time, peer.port(), PATH, TENANTS, CONNECTIONS);
    }

    static void requireAllForwarded(LoadResult result, RunningPeer peer) {
        if (result.refused() > 0) {
            throw new IllegalStateException("%s refused %d requests (expected: none)"
                    .formatted(peer.peer().name(), result.refused()));
        }
    }

    private record CostMeasurement(LoadClient client, Schedule schedule) implements Measurement<CostSample> {

        @Override
        public void warmUp(RunningPeer peer) {
            client.run(times(schedule.warmUpRequests(), peer));
        }

        @Override
        public CostSample measure(RunningPeers peers, RunningPeer peer) throws IOException {
            int begin = peer.beginAllocations();
            peers.otherProcessors();
            Duration before = peer.used();
            Duration redisBefore = redis(peers, peer);
            LoadResult result = client.run(during(schedule.time(), peer));
            double others = peers.otherProcessors();
            Duration used = peer.used().minus(before);
            Duration redisUsed = redis(peers, peer).minus(redisBefore);
            requireAllForwarded(result, peer);
            double answered = result.answered();
            return new CostSample(
                    used.toNanos() / answered,
                    redisUsed.toNanos() / answered,
                    peer.allocatedBytes(begin) / answered,
                    result.perSecond(),
                    result.latencies().percentile(50),
                    result.latencies().percentile(99),
                    others);
        }

        private static Duration redis(RunningPeers peers, RunningPeer peer) {
            return peer.peer().needsRedis()
                    ? peers.surroundings().redis().orElseThrow().used()
                    : Duration.ZERO;
        }
    }
}
