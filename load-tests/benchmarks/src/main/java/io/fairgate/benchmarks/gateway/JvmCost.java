package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.ComparisonRun.Measurement;
import io.fairgate.benchmarks.load.LoadClient;
import io.fairgate.benchmarks.load.LoadResult;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Measures what a request costs in Fairgate with different options of the JVM: the collector, the heap, the number of
 * event loops and the JDK. Writes {@code docs/reports/jvm-performance.md} and its picture.
 */
public final class JvmCost {

    private static final String EVENT_LOOPS = "-Dreactor.netty.ioWorkerCount=";

    /** What the others are compared with. */
    static final Peer BASE = fairgate("jvm-default", "the JVM's choice", "No option.", List.of());

    private static final List<Peer> VARIANTS = List.of(
            BASE,
            fairgate(
                    "jvm-g1",
                    "G1",
                    "`-XX:+UseG1GC`. The JVM chooses it anyway with two processors and 2 GB or more; then this row shows how much two equal gateways differ.",
                    List.of("-XX:+UseG1GC")),
            fairgate("jvm-parallel", "parallel collector", "`-XX:+UseParallelGC`.", List.of("-XX:+UseParallelGC")),
            fairgate("jvm-serial", "serial collector", "`-XX:+UseSerialGC`.", List.of("-XX:+UseSerialGC")),
            fairgate("jvm-z", "ZGC", "`-XX:+UseZGC`.", List.of("-XX:+UseZGC")),
            heap("128 MB", "128m"),
            heap("2 GB", "2g"),
            eventLoops(1),
            eventLoops(2),
            eventLoops(8));

    /**
     * One measurement.
     *
     * @param nanos processor time of the gateway for each request
     * @param perSecond requests
     * @param p50 the latency in milliseconds that half of the requests do not exceed
     * @param p99 that of 99 % of them
     * @param p999 that of 99.9 % of them
     * @param megabytes of physical memory that the gateway's process had at the end
     */
    record JvmSample(
            double nanos, double perSecond, double p50, double p99, double p999, double megabytes, double others)
            implements ComparisonRun.Sample {}

    private JvmCost() {}

    /** @param jdk25 the home of a JDK 25, if there is one */
    static List<Peer> peers(Optional<Path> jdk25) {
        return Stream.concat(VARIANTS.stream(), jdk25.stream().flatMap(JvmCost::on25))
                .toList();
    }

    private static Peer fairgate(String id, String name, String setting, List<String> options) {
        return GatewayCost.FULL.with(
                id,
                name,
                setting,
                Stream.concat(Stream.of(EVENT_LOOPS + 4), options.stream()).toList());
    }

    private static Peer heap(String name, String size) {
        return fairgate(
                "jvm-heap-" + size,
                "heap of " + name,
                "`-Xms%s -Xmx%s`.".formatted(size, size),
                List.of("-Xms" + size, "-Xmx" + size));
    }

    private static Peer eventLoops(int number) {
        String option = EVENT_LOOPS + number;
        return fairgate(
                "jvm-loops-" + number,
                number == 1 ? "one event loop" : number + " event loops",
                "`%s`.".formatted(option),
                List.of(option));
    }

    private static Stream<Peer> on25(Path home) {
        return Stream.of(
                        fairgate("jvm-25", "JDK 25", "JDK 25 without an option.", List.of()),
                        fairgate(
                                "jvm-25-parallel",
                                "JDK 25, parallel collector",
                                "JDK 25 with `-XX:+UseParallelGC`.",
                                List.of("-XX:+UseParallelGC")),
                        fairgate(
                                "jvm-25-compact",
                                "JDK 25, compact headers",
                                "JDK 25 with `-XX:+UseCompactObjectHeaders`.",
                                List.of("-XX:+UseCompactObjectHeaders")),
                        fairgate("jvm-25-z", "JDK 25, ZGC", "JDK 25 with `-XX:+UseZGC`.", List.of("-XX:+UseZGC")))
                .map(peer -> peer.on(home));
    }

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        ComparisonRun run = ComparisonRun.of(args);
        String machine = Machine.describe();
        Optional<Path> jdk25 = Optional.of(System.getProperty("fairgate.jdk25", ""))
                .filter(home -> !home.isBlank())
                .map(Path::of);
        try (LoadClient client = new LoadClient()) {
            Samples<JvmSample> samples = run.measure(peers(jdk25), new JvmMeasurement(client, run.schedule()));
            JvmCostReport report = new JvmCostReport(machine, run.schedule(), samples);
            run.publish(Path.of(args[2]), "jvm-performance", report.text(), report.picture());
        }
    }

    private record JvmMeasurement(LoadClient client, Schedule schedule) implements Measurement<JvmSample> {

        @Override
        public void warmUp(RunningPeer peer) {
            client.run(GatewayCost.times(schedule.warmUpRequests(), peer));
        }

        @Override
        public JvmSample measure(RunningPeers peers, RunningPeer peer) throws IOException {
            peers.otherProcessors();
            Duration before = peer.used();
            LoadResult result = client.run(GatewayCost.during(schedule.time(), peer));
            double others = peers.otherProcessors();
            Duration used = peer.used().minus(before);
            GatewayCost.requireAllForwarded(result, peer);
            return new JvmSample(
                    used.toNanos() / (double) result.answered(),
                    result.perSecond(),
                    result.latencies().percentile(50),
                    result.latencies().percentile(99),
                    result.latencies().percentile(99.9),
                    peer.residentMegabytes(),
                    others);
        }
    }
}
