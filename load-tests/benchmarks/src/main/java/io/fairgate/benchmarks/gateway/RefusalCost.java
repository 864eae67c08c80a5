package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.http.MembersPolicy;
import io.fairgate.benchmarks.peer.NettyRefusal;
import io.fairgate.benchmarks.peer.ReactorNettyRefusal;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Measures what a refused request costs, compared with a forwarded one, and with servers that refuse every request and
 * do nothing else. Writes {@code docs/reports/refusal-performance.md} and its picture.
 */
public final class RefusalCost {

    static final Peer SPRING = Peers.spring();
    static final Peer REACTOR_NETTY = Peers.program(
            "reactor-netty",
            "Reactor Netty alone",
            "A server that answers every request with the same 503, in the form of Fairgate's.",
            ReactorNettyRefusal.class);
    static final Peer NETTY = Peers.program(
            "netty",
            "Netty alone",
            "The same response from a handler behind Netty's HTTP codec, without Reactor Netty.",
            NettyRefusal.class);

    /** The servers that refuse every request: the least that a refusal can cost. */
    static final List<Peer> FLOORS = List.of(REACTOR_NETTY, NETTY);

    /** The two gateways of Fairgate. */
    record Fairgates(Peer few, Peer many) {

        /** @param silent the port of an upstream that never answers */
        static Fairgates with(int silent) {
            return new Fairgates(fairgate(MembersLines.FEW, silent), fairgate(MembersLines.MANY, silent));
        }

        private static Peer fairgate(int members, int silent) {
            String number = Formats.number("%,d", members);
            return Peers.fairgate(
                    "fg-" + members,
                    "Fairgate, %s members".formatted(number),
                    "The policy has %s members, of which %d send requests.".formatted(number, MembersLines.FEW),
                    upstream -> MembersPolicy.text(members, upstream, silent));
        }

        List<Peer> both() {
            return List.of(few, many);
        }

        /** With all that they are compared with. */
        List<Peer> compared() {
            return List.of(SPRING, few, many, REACTOR_NETTY, NETTY);
        }
    }

    /** The kinds of requests that a server is measured with. */
    static List<RequestKind> kinds(Peer peer) {
        if (peer.equals(SPRING)) {
            return List.of(RequestKind.FORWARDED);
        }
        return FLOORS.contains(peer) ? List.of(RequestKind.QUEUE_FULL) : List.of(RequestKind.values());
    }

    /**
     * The cost of a request.
     *
     * @param nanos processor time
     * @param bytes that are allocated
     */
    record RequestCost(double nanos, double bytes) {}

    /** One measurement of each kind of request. */
    record RefusalSample(Map<RequestKind, RequestCost> costs, double others) implements ComparisonRun.Sample {

        RequestCost of(RequestKind kind) {
            return Objects.requireNonNull(costs.get(kind), () -> "not measured: " + kind);
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
        // The system establishes connections to it, and no program ever reads from them.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                RefusalMeasurement measurement = new RefusalMeasurement(run.schedule())) {
            Fairgates fairgates = Fairgates.with(silent.getLocalPort());
            Samples<RefusalSample> samples = run.measure(fairgates.compared(), measurement);
            RefusalCostReport report = new RefusalCostReport(machine, run.schedule(), fairgates, samples);
            run.publish(Path.of(args[2]), "refusal-performance", report.text(), report.picture());
        }
    }
}
