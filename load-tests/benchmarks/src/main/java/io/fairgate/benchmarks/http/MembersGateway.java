package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.http.Connection.Answer;
import io.fairgate.benchmarks.http.MembersCost.Port;
import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A gateway with {@value #ACTIVE} active tenants, alone or among many other configured tenants. One pool always has free
 * permits. In the other the only permit is held, each active tenant has one waiting request, and the queue is full. Changes
 * of the policy keep the held permit and the waiting requests.
 */
final class MembersGateway implements AutoCloseable {

    private static final Pattern SERVES = Pattern.compile(
            "serves on port (?<traffic>\\d+), management on port (?<management>\\d+), leases on port (?<leases>\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8, "::1/128"] }
              plans:
                plan:
                  quotas:
                    - { name: burst, limit: 1000000, per: 1s }
                    - { name: daily, limit: 1000000000000, per: day }
                    - { name: spent, limit: 1, per: total, routes: [spent] }
              members:
            %s
            pools:
              open: { permits: 64 }
              full: { permits: 1, max-waiting: %d, max-wait: 10h, max-hold: 10h }
            routes:
              - id: open
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/open/**" ]
                filters: [ "FairShare=open" ]
              - id: spent
                uri: http://127.0.0.1:%3$d
                predicates: [ "Path=/spent/**" ]
                filters: [ "FairShare=open" ]
              - id: full
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/full/**" ]
                filters: [ "FairShare=full" ]
                metadata: { response-timeout: 36000000 }
            """;

    private static final int ACTIVE = MembersLines.FEW;

    private final Path policy;
    private final int upstream;
    private final int silent;
    private final MeasuredProcess process;
    private final Matcher ports;
    private final List<HeldRequest> held = new ArrayList<>();

    /**
     * Starts the gateway, with the active tenants only.
     *
     * @param upstream the port of an upstream that answers at once
     * @param silent the port of an upstream that never answers
     */
    MembersGateway(Path jar, Path folder, int upstream, int silent) throws IOException {
        this.policy = folder.resolve("members.yml");
        this.upstream = upstream;
        this.silent = silent;
        write(ACTIVE);
        process = MeasuredProcess.java(List.of(
                "-Xmx512m",
                "-jar",
                jar.toString(),
                "serve",
                "--config",
                policy.toString(),
                "--server.port=0",
                "--management.server.port=0",
                "--server.address=127.0.0.1",
                "--fairgate.watch-policy=0s",
                "--fairgate.leases.enabled=true",
                "--fairgate.leases.port=0"));
        ports = process.await(SERVES);
        fill();
    }

    /** Loads a policy with this many members, and collects its garbage at once. */
    void configure(int members) throws IOException {
        write(members);
        try (Connection connection = new Connection(port(Port.MANAGEMENT))) {
            Answer answer = connection.send("POST /actuator/policy HTTP/1.1\r\n", "");
            if (answer.status() != 200) {
                throw new IOException("%d %s (expected: 200)".formatted(answer.status(), answer.body()));
            }
        }
        process.collectGarbage();
    }

    private void write(int members) throws IOException {
        Files.writeString(policy, policy(members, upstream, silent));
    }

    static String policy(int members, int upstream, int silent) {
        String lines = IntStream.range(0, members)
                .mapToObj(member -> "    " + tenant(member * (MembersLines.MANY / members)) + ": { plan: plan }")
                .collect(Collectors.joining("\n"));
        return POLICY.formatted(lines, ACTIVE, upstream, silent);
    }

    /** All names have the same length, because longer names take longer to compare. */
    private static String tenant(int member) {
        return "tenant-%05d".formatted(member);
    }

    /** The active tenants are evenly spread among the others. */
    static String active(long number) {
        return tenant((int) Math.floorMod(number, (long) ACTIVE) * (MembersLines.MANY / ACTIVE));
    }

    private void fill() throws IOException {
        hold(active(0), 0);
        for (int i = 0; i < ACTIVE; i++) {
            hold(active(i), i + 1);
        }
        // One request each, to use up the quota: later every request is refused.
        try (Connection connection = new Connection(port(Port.TRAFFIC))) {
            for (int i = 0; i < ACTIVE; i++) {
                connection.send("GET /spent/x HTTP/1.1\r\n" + tenantField(i), "");
            }
        }
    }

    /** Sends a request, and waits until the gateway reports this many waiting requests. */
    private void hold(String tenant, int waiting) throws IOException {
        held.add(new HeldRequest(port(Port.TRAFFIC), "/full/x", tenant));
        String expected = "\"full\":{\"permits\":1,\"inFlight\":1,\"waiting\":" + waiting + ",";
        long end = System.nanoTime() + PATIENCE.toNanos();
        try (Connection connection = new Connection(port(Port.MANAGEMENT))) {
            String seen;
            do {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("not seen within %s: %s".formatted(PATIENCE, expected));
                }
                seen = connection.send("GET /actuator/pools HTTP/1.1\r\n", "").body();
            } while (!seen.contains(expected));
        }
    }

    MeasuredProcess process() {
        return process;
    }

    int port(Port port) {
        return Integer.parseInt(ports.group(port.group));
    }

    /** The header of an active tenant; the next number gives the next tenant. */
    static String tenantField(long number) {
        return "X-Tenant-Id: " + active(number) + "\r\n";
    }

    @Override
    public void close() {
        process.close();
        held.forEach(HeldRequest::close);
    }
}
