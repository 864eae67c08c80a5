package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A gateway in front of an upstream that records its requests; the records are cleared before each test. A static extension for
 * all tests of a class, which start it in {@code @BeforeAll}.
 */
final class GatewayAndUpstream implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    /** Pools and routes for tests that need no special ones. */
    static final String FAIR_ROUTE = """
            pools:
              pool: { permits: 4 }
            routes:
              - id: fair
                uri: http://UPSTREAM
                predicates: [ "Path=/fair/**" ]
                filters: [ "FairShare=pool" ]
            """;

    private final RunningGateway gateway = new RunningGateway();
    private final ScriptedUpstream upstream = new ScriptedUpstream();

    /** Starts the gateway; {@code UPSTREAM} in the policy is replaced by the upstream's host and port. */
    void start(String policy, String... options) {
        gateway.start(policy.replace("UPSTREAM", "127.0.0.1:" + upstream.port()), options);
    }

    RunningGateway gateway() {
        return gateway;
    }

    ScriptedUpstream upstream() {
        return upstream;
    }

    Answer ask(String path, String... headers) {
        return Answer.to(gateway.url(path), headers);
    }

    /** Sends a GET with exactly these header lines; returns everything that came back. */
    String raw(String path, String... lines) throws Exception {
        boolean ends = Arrays.stream(lines).anyMatch(line -> line.startsWith("Connection:"));
        try (RawClient client = new RawClient(gateway.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\n" + (ends ? "" : "Connection: close\r\n")
                            + String.join("\r\n", lines) + "\r\n\r\n")
                    .readAll();
        }
    }

    /** The head of the only request that the upstream has got since the test began. */
    String got() {
        assertThat(upstream.heads()).hasSize(1);
        return upstream.heads().get(0);
    }

    /** The lines of that request with a header of this name, in any letters. */
    List<String> got(String header) {
        return got().lines()
                .filter(line -> line.regionMatches(true, 0, header + ":", 0, header.length() + 1))
                .toList();
    }

    @Override
    public void beforeAll(ExtensionContext tests) {
        gateway.beforeAll(tests);
        upstream.beforeAll(tests);
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        upstream.forgetRequests();
    }

    @Override
    public void afterEach(ExtensionContext test) {
        gateway.afterEach(test);
    }

    @Override
    public void afterAll(ExtensionContext tests) throws Exception {
        gateway.afterAll(tests);
        upstream.afterAll(tests);
    }
}
