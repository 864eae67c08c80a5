package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.FewAndMany;
import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.http.HttpLoad.Result;
import io.fairgate.benchmarks.http.HttpLoad.Work;
import io.fairgate.benchmarks.load.UpstreamProcess;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Measures the cost of 20,000 configured members against 20 while the same number is active: in the permit core, and over
 * HTTP. Writes {@code docs/members-performance.md}. Takes about twenty minutes.
 *
 * <p>Over HTTP, one gateway runs with both policies in turn: the difference between two processes, each of which compiles in
 * its own way, would be larger than the effect to find.
 */
public final class MembersCost {

    private static final Duration TURN = Duration.ofSeconds(1);

    /** With each policy, bounded by number and not by time: on a busy machine the compiler needs longer. */
    private static final int WARM_UPS = 3;

    /** Rounds over HTTP for each round of the core, because they are disturbed more. */
    private static final int HTTP_ROUNDS = 6;

    /** The gateway's ports, by their names in the pattern of {@link MembersGateway}. */
    enum Port {
        TRAFFIC("traffic"),
        MANAGEMENT("management"),
        LEASES("leases");

        final String group;

        Port(String group) {
            this.group = group;
        }
    }

    /** A kind of work of the gateway. */
    enum Task {
        FORWARD("a forwarded request", Port.TRAFFIC, 200, "/open/x", true, 500),
        QUEUE_FULL("503: the queue of the pool is full", Port.TRAFFIC, 503, "/full/x", true, 300),
        QUOTA("429: a quota is used up", Port.TRAFFIC, 429, "/spent/x", true, 300),
        IDENTITY("401: no identity", Port.TRAFFIC, 401, "/open/x", false, 300),
        POOLS("`GET /v1/pools` of the lease API", Port.LEASES, 200, "/v1/pools", true, 300),
        SCRAPE("a scrape of `/actuator/prometheus`", Port.MANAGEMENT, 200, "/actuator/prometheus", false, 30);

        final String description;
        private final Port port;
        private final int status;
        private final String path;
        private final boolean isIdentified;
        /** Requests in each warm-up, on each connection. */
        private final int warmUp;

        Task(String description, Port port, int status, String path, boolean isIdentified, int warmUp) {
            this.description = description;
            this.port = port;
            this.status = status;
            this.path = path;
            this.isIdentified = isIdentified;
            this.warmUp = warmUp;
        }

        /** A load of all active tenants in turn. */
        HttpLoad load(MembersGateway gateway) {
            Work work = (connection, thread, number) -> {
                String tenant = isIdentified ? MembersPolicy.tenantField(thread + number) : "";
                int answered = connection
                        .send("GET " + path + " HTTP/1.1\r\n" + tenant, "")
                        .status();
                if (answered != status) {
                    throw new IOException("%s: %d (expected: %d)".formatted(path, answered, status));
                }
            };
            return new HttpLoad(gateway.port(port), work);
        }
    }

    private MembersCost() {}

    /**
     * Measures everything.
     *
     * @param args the jar of the gateway, a folder for its policy, the file to write
     */
    public static void main(String[] args) throws IOException, RunnerException {
        int rounds = Integer.getInteger("fairgate.rounds", 5);
        int httpRounds = HTTP_ROUNDS * rounds;
        String machine = Machine.describe();
        // The upstream of the full pool: connections are established, but nothing is ever read.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                UpstreamProcess upstream = new UpstreamProcess()) {
            Map<Task, List<FewAndMany>> http;
            try (MembersGateway gateway =
                    new MembersGateway(Path.of(args[0]), Path.of(args[1]), upstream.port(), silent.getLocalPort())) {
                http = measure(gateway, httpRounds);
            }
            String core = MembersLines.measure(rounds);
            String report = new MembersCostReport(machine, rounds, httpRounds, core, http).text();
            Files.writeString(Path.of(args[2]), report);
            System.out.println(report);
        }
    }

    /** Each round begins with the last policy of the round before. */
    private static Map<Task, List<FewAndMany>> measure(MembersGateway gateway, int rounds) throws IOException {
        for (int members : List.of(MembersLines.FEW, MembersLines.MANY)) {
            gateway.configure(members);
            for (int i = 0; i < WARM_UPS; i++) {
                for (Task task : Task.values()) {
                    task.load(gateway).times(gateway.process(), task.warmUp);
                }
            }
        }
        Map<Task, List<FewAndMany>> measured = new EnumMap<>(Task.class);
        for (int round = 0; round < rounds; round++) {
            boolean isManyFirst = round % 2 == 0;
            Map<Task, Result> first = turns(gateway, isManyFirst ? MembersLines.MANY : MembersLines.FEW);
            Map<Task, Result> second = turns(gateway, isManyFirst ? MembersLines.FEW : MembersLines.MANY);
            Map<Task, Result> few = isManyFirst ? second : first;
            (isManyFirst ? first : second).forEach((task, many) -> {
                FewAndMany pair = pair(Objects.requireNonNull(few.get(task)), many);
                measured.computeIfAbsent(task, t -> new ArrayList<>()).add(pair);
                System.out.println(task + " " + pair);
            });
        }
        return measured;
    }

    /** One turn of each task. */
    private static Map<Task, Result> turns(MembersGateway gateway, int members) throws IOException {
        gateway.configure(members);
        Map<Task, Result> results = new EnumMap<>(Task.class);
        for (Task task : Task.values()) {
            results.put(task, task.load(gateway).run(gateway.process(), TURN));
        }
        return results;
    }

    /**
     * The load does the same work for each request. If it needs more processor time in one turn than in the other, the machine
     * was slower, and the gateway's processor time is corrected by the same factor.
     */
    static FewAndMany pair(Result few, Result many) {
        double speed = many.ownNanosEach() / few.ownNanosEach();
        return new FewAndMany(few.nanosEach() * Math.sqrt(speed), many.nanosEach() / Math.sqrt(speed));
    }
}
