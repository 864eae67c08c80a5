package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.http.Connection.Answer;
import io.fairgate.benchmarks.http.HttpLoad.Result;
import io.fairgate.benchmarks.load.UpstreamProcess;
import io.fairgate.benchmarks.process.MeasuredProcess;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the cost of leases for the gateway, compared with the cost of forwarding, and the cost of idle leases. Writes
 * {@code docs/lease-performance.md}. Takes about five minutes.
 */
public final class LeaseCost {

    /** Turns of both kinds of work, bounded by number and not by time: on a busy machine the compiler needs longer. */
    private static final int WARM_UPS = 4;

    /** Repetitions of the work in each turn, on each connection. */
    private static final int WARM_UP = 2_500;

    private static final Duration ROUND = Duration.ofSeconds(8);
    private static final Duration IDLE = Duration.ofSeconds(20);
    private static final Duration SETTLING = Duration.ofSeconds(10);

    /** The default limit of leases. */
    static final int HELD = 100_000;

    private static final Pattern SERVES =
            Pattern.compile("serves on port (\\d+), management on port \\d+, leases on port (\\d+)");
    private static final Pattern LEASE = Pattern.compile("\"id\":\"([0-9a-f]{32})\"");

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8, "::1/128"] }
              plans: { plan: {} }
              members: { a: { plan: plan } }
            pools:
              pool: { permits: %d }
            routes:
              - id: fair
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/fair/**" ]
                filters: [ "FairShare=pool" ]
            """;

    private LeaseCost() {}

    /**
     * Measures everything in sequence.
     *
     * @param args the jar of the gateway, a folder for its policy, the file to write; then options of the gateway, if any
     */
    public static void main(String[] args) throws IOException {
        int rounds = Integer.getInteger("fairgate.rounds", 5);
        List<String> options = List.of(args).subList(3, args.length);
        try (UpstreamProcess upstream = new UpstreamProcess()) {
            Path policy = Path.of(args[1]).resolve("lease-cost.yml");
            Files.writeString(policy, POLICY.formatted(HELD + HttpLoad.CONNECTIONS, upstream.port()));
            String machine = Machine.describe();
            LeaseCostReport report =
                    new LeaseCostReport(machine, rounds(args[0], policy, rounds, options), idle(args[0], policy));
            Files.writeString(Path.of(args[2]), report.text());
            System.out.println(report.text());
        }
    }

    private static MeasuredProcess start(String jar, Path policy, List<String> options) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("-Xmx512m", "-jar", jar, "serve", "--config", policy.toString()));
        arguments.addAll(List.of("--server.port=0", "--management.server.port=0", "--server.address=127.0.0.1"));
        arguments.addAll(List.of("--fairgate.leases.enabled=true", "--fairgate.leases.port=0"));
        arguments.addAll(options);
        return MeasuredProcess.java(arguments);
    }

    /** Each round measures one after the other, so that what disturbs one disturbs the other. */
    private static List<LeaseCostReport.Round> rounds(String jar, Path policy, int rounds, List<String> options)
            throws IOException {
        try (MeasuredProcess gateway = start(jar, policy, options)) {
            Matcher ports = gateway.await(SERVES);
            HttpLoad forwards = new HttpLoad(Integer.parseInt(ports.group(1)), LeaseCost::forward);
            HttpLoad leases = new HttpLoad(Integer.parseInt(ports.group(2)), LeaseCost::acquireAndRelease);
            for (int i = 0; i < WARM_UPS; i++) {
                forwards.times(gateway, WARM_UP);
                leases.times(gateway, WARM_UP);
            }
            List<LeaseCostReport.Round> all = new ArrayList<>();
            for (int i = 0; i < rounds; i++) {
                Result forwarded = forwards.run(gateway, ROUND);
                Result leased = leases.run(gateway, ROUND);
                all.add(new LeaseCostReport.Round(forwarded.perSecond(), leased.perSecond()));
                System.out.println(all.get(i));
            }
            return all;
        }
    }

    private static LeaseCostReport.Idle idle(String jar, Path policy) throws IOException {
        try (MeasuredProcess gateway = start(jar, policy, List.of())) {
            int port = Integer.parseInt(gateway.await(SERVES).group(2));
            // As much work as below, so that both measurements have the same compiled code and the same heap.
            new HttpLoad(port, LeaseCost::acquireAndRelease).times(gateway, HELD / HttpLoad.CONNECTIONS);
            Duration without = idle(gateway);
            new HttpLoad(port, LeaseCost::acquire).times(gateway, HELD / HttpLoad.CONNECTIONS);
            return new LeaseCostReport.Idle(HELD, IDLE, without, idle(gateway));
        }
    }

    private static Duration idle(MeasuredProcess gateway) {
        pause(SETTLING);
        Duration before = gateway.used();
        pause(IDLE);
        return gateway.used().minus(before);
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    // ---- the work ----

    private static void forward(Connection connection, int thread, long number) throws IOException {
        require(connection.send("GET /fair/x HTTP/1.1\r\nX-Tenant-Id: a\r\n", ""), 200);
    }

    private static void acquireAndRelease(Connection connection, int thread, long number) throws IOException {
        Matcher lease = LEASE.matcher(acquired(connection, thread, number).body());
        if (!lease.find()) {
            throw new IOException("no lease");
        }
        require(connection.send("DELETE /v1/leases/" + lease.group(1) + " HTTP/1.1\r\nX-Tenant-Id: a\r\n", ""), 204);
    }

    private static void acquire(Connection connection, int thread, long number) throws IOException {
        acquired(connection, thread, number + (1L << 62));
    }

    private static Answer acquired(Connection connection, int thread, long number) throws IOException {
        return require(
                connection.send(
                        "POST /v1/pools/pool/leases HTTP/1.1\r\nX-Tenant-Id: a\r\nContent-Type: application/json\r\n"
                                + "Idempotency-Key: " + thread + "-" + number + "\r\n",
                        "{\"ttl\":\"5m\",\"maxWait\":\"10s\"}"),
                201);
    }

    private static Answer require(Answer answer, int status) throws IOException {
        if (answer.status() != status) {
            throw new IOException("%d %s (expected: %d)".formatted(answer.status(), answer.body(), status));
        }
        return answer;
    }
}
