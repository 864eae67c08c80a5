package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.http.Connection.Answer;
import io.fairgate.benchmarks.http.MembersCost.Port;
import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A gateway with the policy {@link MembersPolicy}, whose full pool is full. Changes of the policy keep the held permit and
 * the waiting requests.
 */
final class MembersGateway implements AutoCloseable {

    private static final Pattern SERVES = Pattern.compile(
            "serves on port (?<traffic>\\d+), management on port (?<management>\\d+), leases on port (?<leases>\\d+)");

    private final Path policy;
    private final int upstream;
    private final int silent;
    private final MeasuredProcess process;
    private final Matcher ports;
    private final RefusedTraffic traffic;

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
        write(MembersLines.FEW);
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
        traffic = new RefusedTraffic(port(Port.TRAFFIC), port(Port.MANAGEMENT));
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
        Files.writeString(policy, MembersPolicy.text(members, upstream, silent));
    }

    MeasuredProcess process() {
        return process;
    }

    int port(Port port) {
        return Integer.parseInt(ports.group(port.group));
    }

    @Override
    public void close() {
        process.close();
        traffic.close();
    }
}
