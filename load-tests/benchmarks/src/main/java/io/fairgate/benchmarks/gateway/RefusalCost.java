package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.gateway.ComparisonRun.Measurement;
import io.fairgate.benchmarks.http.MembersPolicy;
import io.fairgate.benchmarks.http.RefusedTraffic;
import io.fairgate.benchmarks.load.Load;
import io.fairgate.benchmarks.load.LoadClient;
import io.fairgate.benchmarks.load.LoadResult;
import io.fairgate.benchmarks.peer.NettyRefusal;
import io.fairgate.benchmarks.peer.ReactorNettyRefusal;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Measures what a refused request costs, against a forwarded one, and against servers that refuse every request and do
 * nothing else. Writes {@code docs/reports/refusal-performance.md} and its picture.
 */
public final class RefusalCost {

    /** What becomes of a request. */
    enum Kind {
        FORWARDED("a forwarded request", "/open/x", true),
        NO_IDENTITY("401: no identity", "/open/x", false),
        QUOTA("429: a quota is used up", "/spent/x", true),
        QUEUE_FULL("503: the queue of the pool is full", "/full/x", true);

        final String description;
        private final String path;
        private final boolean isIdentified;

        Kind(String description, String path, boolean isIdentified) {
            this.description = description;
            this.path = path;
            this.isIdentified = isIdentified;
        }

        private List<String> tenants() {
            return isIdentified ? MembersPolicy.active() : List.of();
        }
    }

    static final List<Kind> REFUSED = List.of(Kind.NO_IDENTITY, Kind.QUOTA, Kind.QUEUE_FULL);

    static final Peer BASE = Peers.spring();
    static final Peer REACTOR_NETTY = Peers.program(
            "reactor-netty",
            "Reactor Netty that refuses all",
            "A server of Reactor Netty that answers every request with a 503 as Fairgate writes it, and nothing else.",
            ReactorNettyRefusal.class);
    static final Peer NETTY = Peers.program(
            "netty",
            "Netty that refuses all",
            "The same answer by a handler behind Netty's own HTTP codec.",
            NettyRefusal.class);

    /** The gateways of a comparison. */
    record Compared(Peer few, Peer many) {

        /** @param silent the port of an upstream that never answers */
        static Compared with(int silent) {
            return new Compared(fairgate(MembersLines.FEW, silent), fairgate(MembersLines.MANY, silent));
        }

        private static Peer fairgate(int members, int silent) {
            return Peers.fairgate(
                    "fg-" + members,
                    "Fairgate, %,d members".formatted(members),
                    "%d of %,d members are active. One pool always has a free permit, the queue of another one is full."
                            .formatted(MembersLines.FEW, members),
                    upstream -> MembersPolicy.text(members, upstream, silent));
        }

        List<Peer> all() {
            return List.of(BASE, few, many, REACTOR_NETTY, NETTY);
        }

        List<Kind> kinds(Peer peer) {
            if (peer.equals(BASE)) {
                return List.of(Kind.FORWARDED);
            }
            return peer.equals(few) || peer.equals(many) ? List.of(Kind.values()) : List.of(Kind.QUEUE_FULL);
        }
    }

    /**
     * The cost of a request.
     *
     * @param nanos processor time
     * @param bytes that are allocated
     */
    record Cost(double nanos, double bytes) {}

    /** One measurement of all that a gateway does. */
    record RefusalSample(Map<Kind, Cost> costs, double others) implements ComparisonRun.Sample {

        Cost of(Kind kind) {
            return Objects.requireNonNull(costs.get(kind));
        }
    }

    private RefusalCost() {}

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        ComparisonRun run = ComparisonRun.of(args);
        String machine = Machine.describe();
        // Connections are established, but nothing is ever read.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                RefusalMeasurement measurement =
                        new RefusalMeasurement(Compared.with(silent.getLocalPort()), run.schedule())) {
            Samples<RefusalSample> samples = run.measure(measurement.compared.all(), measurement);
            RefusalCostReport report =
                    new RefusalCostReport(machine, run.schedule(), measurement.compared, samples);
            run.publish(Path.of(args[2]), "refusal-performance", report.text(), report.picture());
        }
    }

    private static final class RefusalMeasurement implements Measurement<RefusalSample>, AutoCloseable {

        private final LoadClient client = new LoadClient();
        private final Map<RunningPeer, RefusedTraffic> traffic = new HashMap<>();
        private final Compared compared;
        private final Schedule schedule;

        RefusalMeasurement(Compared compared, Schedule schedule) {
            this.compared = compared;
            this.schedule = schedule;
        }

        @Override
        public void warmUp(RunningPeer peer) {
            for (Kind kind : compared.kinds(peer.peer())) {
                prepare(peer);
                check(
                        client.run(Load.times(
                                        schedule.warmUpRequests() / compared.kinds(peer.peer()).size(),
                                        peer.port(),
                                        kind.path,
                                        kind.tenants(),
                                        GatewayCost.CONNECTIONS)
                                .withoutPause()),
                        kind);
            }
        }

        /** Fills the pool of a new gateway. */
        private void prepare(RunningPeer peer) {
            if (compared.kinds(peer.peer()).contains(Kind.QUOTA)) {
                traffic.computeIfAbsent(peer, p -> {
                    try {
                        return new RefusedTraffic(p.port(), p.managementPort());
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
            }
        }

        @Override
        public RefusalSample measure(RunningPeers peers, RunningPeer peer) throws IOException {
            Map<Kind, Cost> costs = new EnumMap<>(Kind.class);
            peers.otherProcessors();
            double others = 0;
            for (Kind kind : compared.kinds(peer.peer())) {
                int begin = peer.beginAllocations();
                peers.otherProcessors();
                Duration before = peer.used();
                LoadResult result = client.run(Load.during(
                                schedule.time(), peer.port(), kind.path, kind.tenants(), GatewayCost.CONNECTIONS)
                        .withoutPause());
                others = Math.max(others, peers.otherProcessors());
                double nanos = peer.used().minus(before).toNanos();
                check(result, kind);
                costs.put(kind, new Cost(nanos / result.answered(), peer.allocatedBytes(begin) / result.answered()));
            }
            return new RefusalSample(costs, others);
        }

        /** All requests must have been forwarded, or all of them refused. */
        private static void check(LoadResult result, Kind kind) {
            long forwarded = result.latencies().count();
            long others = kind == Kind.FORWARDED ? result.refused() : forwarded;
            if (others > 0) {
                throw new IllegalStateException("%s: %d refused, %d forwarded (expected: all the same)"
                        .formatted(kind, result.refused(), forwarded));
            }
        }

        @Override
        public void close() {
            traffic.values().forEach(RefusedTraffic::close);
            client.close();
        }
    }
}
