package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The demo shows its result, and then stays a gateway for experiments. */
class DemoIT {

    private static final String[] FREE_PORTS = {"--server.port=0", "--management.server.port=0"};

    /** Other programs on the machine disturb the ratio; one of these runs must show the result. */
    private static final int RUNS = 3;

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    DemoIT(@TempDir Path folder) {
        this.folder = folder;
    }

    @Test
    void the_table_shows_that_the_fair_route_protects_the_quiet_tenant() throws Exception {
        double plain = 0;
        double fair = Double.MAX_VALUE;
        for (int run = 0; run < RUNS && (plain < 2 || fair > 1.5); run++) {
            Started demo = demo("--exit", "--quiet-seconds", "2", "--noisy-seconds", "3");
            assertThat(demo.awaitExit()).as(demo.err()).isZero();
            assertThat(demo.err()).isEmpty();
            assertThat(demo.out()).doesNotContain("\r").doesNotContain("\u001b").doesNotContain("failed");
            assertThat(demo.out().lines().filter(line -> line.matches(".*(quiet|noisy) +\\d.* ms .* %")))
                    .hasSize(5)
                    .allSatisfy(line -> assertThat(line).hasSize(71));
            plain = number(demo, "([\\d.]+) times as long on the plain route");
            fair = number(demo, "([\\d.]+) times as long on the FairShare route");
            assertThat(number(demo, "at most (\\d+) requests at once\\.\\s*$")).isBetween(1.0, 8.0);
        }
        assertThat(plain).isGreaterThanOrEqualTo(2);
        assertThat(fair).isLessThanOrEqualTo(1.5);
    }

    @Tag("long")
    @Test
    void the_demo_serves_after_the_table_until_it_is_stopped() throws Exception {
        Started demo = demo("--quiet-seconds", "1", "--noisy-seconds", "1");
        Matcher hint =
                demo.awaitOutput(Pattern.compile("curl -i -H 'X-Tenant-Id: quiet' http://127.0.0.1:(\\d+)/fair"));
        int port = Integer.parseInt(hint.group(1));
        assertThat(hello(port, "quiet")).startsWith("HTTP/1.1 200").contains("Server-Timing: fairgate;dur=");
        for (int i = 0; i < 3; i++) {
            assertThat(hello(port, "limited")).startsWith("HTTP/1.1 200");
        }
        assertThat(hello(port, "limited")).startsWith("HTTP/1.1 429").contains("Retry-After: ");
        assertThat(demo.terminate().awaitExit()).isZero();
        assertThat(demo.err()).isEmpty();
    }

    @Tag("long")
    @Test
    void a_stop_before_the_table_shows_no_failed_requests() throws Exception {
        Started demo = demo();
        demo.awaitOutput(Pattern.compile("warm-up, FairShare route: .*"));
        assertThat(demo.terminate().awaitExit()).isEqualTo(128 + 15);
        assertThat(demo.err()).isEmpty();
        assertThat(demo.out()).doesNotContain("WARN").doesNotContain("\tat ").doesNotContain("as long");
    }

    private static String hello(int port, String tenant) throws IOException {
        try (RawClient client = new RawClient(port)) {
            return client.send("GET /fair/hello HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: " + tenant
                            + "\r\nConnection: close\r\n\r\n")
                    .readAll();
        }
    }

    private Started demo(String... options) {
        return fairgate.start(
                folder,
                Stream.of(new String[] {"demo"}, options, FREE_PORTS)
                        .flatMap(Arrays::stream)
                        .toArray(String[]::new));
    }

    private static double number(Started demo, String pattern) {
        return Double.parseDouble(Objects.requireNonNull(
                demo.awaitOutput(Pattern.compile(pattern)).group(1)));
    }
}
