package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.fairgate.gateway.FairgateProcess.Started;
import io.netty.handler.codec.http2.Http2Error;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Graceful shutdown: every request that has begun gets exactly one answer, and no new request begins. */
class DrainIT {

    private static final int WAITING = 40;

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final CountDownLatch release = new CountDownLatch(1);
    private final List<RawClient> clients = new ArrayList<>();

    DrainIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private Started serve(String... options) throws Exception {
        ScriptedUpstream.Script held = exchange -> {
            exchange.await(release);
            exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nheld");
        };
        upstream.on("/fair/held", held).on("/plain/held", held);
        upstream.on("/fair/stream", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
            exchange.await(release);
            exchange.sendLast("4\r\nlast\r\n0\r\n\r\n");
        });
        String policy = TestPolicy.onePool(
                upstream.url(), "permits: 2, max-waiting: " + WAITING + ", max-wait: 5m, max-hold: 10m");
        return fairgate.serve(
                folder, policy, Stream.of(options).map("--"::concat).toArray(String[]::new));
    }

    private RawClient client(Started gateway) throws Exception {
        RawClient client = new RawClient(gateway.port());
        clients.add(client);
        return client;
    }

    @AfterEach
    void close() throws Exception {
        release.countDown();
        for (RawClient client : clients) {
            client.close();
        }
    }

    /** An answer of the management port. */
    private static String management(Started gateway, String path) throws Exception {
        try (RawClient client = new RawClient(gateway.managementPort())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
                    .readAll();
        }
    }

    private static void awaitPool(Started gateway, int inFlight, int waiting) {
        RunningGateway.eventually(() -> assertThat(management(gateway, "/actuator/pools"))
                .contains("\"inFlight\":" + inFlight + ",\"waiting\":" + waiting));
    }

    private static void assertListensNoMore(Started gateway) {
        assertThatThrownBy(() -> new RawClient(gateway.port())).isInstanceOf(ConnectException.class);
    }

    private static void assertRefused(String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 503")
                .containsIgnoringCase("\r\nRetry-After: 1\r\n")
                .containsIgnoringCase("\r\nConnection: close\r\n")
                .contains("application/problem+json", "\"reason\":\"draining\"");
    }

    @Test
    void under_load_every_request_has_exactly_one_outcome() throws Exception {
        Started gateway = serve("fairgate.drain-time=5m", "spring.lifecycle.timeout-per-shutdown-phase=10m");
        RawClient keptAlive = client(gateway);
        keptAlive.get("/plain/before", "c").readUntil("ok");
        RawClient stream = client(gateway).get("/fair/stream", "a");
        stream.readUntil("first");
        RawClient held = client(gateway).get("/fair/held", "b");
        awaitPool(gateway, 2, 0);
        List<RawClient> waiting = new ArrayList<>();
        for (int id = 0; id < WAITING; id++) {
            waiting.add(client(gateway).get("/fair/" + id, id % 2 == 0 ? "a" : "b"));
        }
        awaitPool(gateway, 2, WAITING);
        assertThat(management(gateway, "/actuator/health/readiness")).startsWith("HTTP/1.1 200");

        gateway.terminate();
        gateway.awaitOutput(Pattern.compile("Draining: 2 in flight, " + WAITING + " waiting"));
        assertThat(management(gateway, "/actuator/health/readiness"))
                .startsWith("HTTP/1.1 503")
                .contains("OUT_OF_SERVICE");
        assertThat(keptAlive.readAll()).as("an idle connection").isEmpty();
        assertListensNoMore(gateway);
        assertThat(gateway.isAlive()).isTrue();
        release.countDown();

        assertThat(stream.readAll()).contains("last\r\n0\r\n\r\n");
        assertThat(held.readAll()).startsWith("HTTP/1.1 200").endsWith("held");
        for (RawClient client : waiting) {
            assertThat(client.readAll())
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("\r\nConnection: close\r\n")
                    .containsOnlyOnce("HTTP/1.1")
                    .endsWith("ok");
        }
        assertThat(gateway.awaitExit()).isZero();
        assertThat(upstream.requests())
                .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                Stream.of("plain/before", "fair/stream", "fair/held"),
                                IntStream.range(0, WAITING).mapToObj(id -> "fair/" + id))
                        .map(path -> "GET /" + path + " HTTP/1.1")
                        .toList());
        assertThat(upstream.highestConcurrency()).isEqualTo(2);
        assertThat(gateway.out())
                .containsOnlyOnce("Drained: nothing waits and nothing is in flight.")
                .doesNotContain("drain time is over")
                .doesNotContain("WARN")
                .doesNotContain("ERROR");
        assertThat(gateway.err()).isEmpty();
    }

    @Tag("long")
    @Test
    void after_the_drain_time_waiting_requests_are_refused_and_running_ones_finish() throws Exception {
        Started gateway = serve("fairgate.drain-time=1s", "spring.lifecycle.timeout-per-shutdown-phase=10m");
        RawClient stream = client(gateway).get("/fair/stream", "a");
        stream.readUntil("first");
        RawClient held = client(gateway).get("/fair/held", "b");
        awaitPool(gateway, 2, 0);
        List<RawClient> waiting = new ArrayList<>();
        for (int id = 0; id < 6; id++) {
            waiting.add(client(gateway).get("/fair/" + id, "a"));
        }
        awaitPool(gateway, 2, 6);

        gateway.terminate();
        for (RawClient client : waiting) {
            assertRefused(client.readAll());
        }
        gateway.awaitOutput(Pattern.compile("The drain time is over: .*; waiting for 2 in flight"));
        assertThat(gateway.isAlive()).isTrue();
        release.countDown();
        assertThat(stream.readAll()).contains("last\r\n0\r\n\r\n");
        assertThat(held.readAll()).startsWith("HTTP/1.1 200").endsWith("held");
        assertThat(gateway.awaitExit()).isZero();
        assertThat(upstream.requests()).hasSize(2);
        assertThat(gateway.out()).containsOnlyOnce("Drained: ").doesNotContain("WARN");
    }

    @Tag("long")
    @Test
    void a_reload_during_the_drain_loses_and_admits_no_request() throws Exception {
        Started gateway = serve("fairgate.drain-time=5m", "spring.lifecycle.timeout-per-shutdown-phase=10m");
        RawClient held = client(gateway).get("/fair/held", "b");
        RawClient stream = client(gateway).get("/fair/stream", "a");
        stream.readUntil("first");
        awaitPool(gateway, 2, 0);
        RawClient waiting = client(gateway).get("/fair/1", "a");
        awaitPool(gateway, 2, 1);
        gateway.terminate();
        gateway.awaitOutput(Pattern.compile("Draining: 2 in flight, 1 waiting"));

        Path file = folder.resolve("fairgate.yml");
        Files.writeString(
                file,
                Files.readString(file).replace("  pool: {", "  other: {").replace("FairShare=pool", "FairShare=other"));
        try (RawClient operator = new RawClient(gateway.managementPort())) {
            assertThat(operator.send("POST /actuator/policy HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
                            .readAll())
                    .startsWith("HTTP/1.1 200")
                    .contains("\"result\":\"CHANGED\"");
        }
        awaitPool(gateway, 2, 1);
        assertListensNoMore(gateway);
        release.countDown();

        assertThat(stream.readAll()).contains("last\r\n0\r\n\r\n");
        assertThat(held.readAll()).startsWith("HTTP/1.1 200").endsWith("held");
        assertThat(waiting.readAll()).startsWith("HTTP/1.1 200").endsWith("ok");
        assertThat(gateway.awaitExit()).isZero();
        assertThat(upstream.highestConcurrency()).isEqualTo(2);
        assertThat(gateway.out()).containsOnlyOnce("Drained: ");
    }

    /** The process is killed then. */
    @Test
    void in_the_grace_time_requests_are_served_and_clients_are_sent_elsewhere() throws Exception {
        Started gateway = serve("fairgate.shutdown-grace=1h", "spring.lifecycle.timeout-per-shutdown-phase=2h");
        RawClient keptAlive = client(gateway);
        keptAlive.get("/fair/1", "a").readUntil("ok");
        try (RawHttp2Client http2 = new RawHttp2Client(gateway.port());
                RawHttp2Client later = new RawHttp2Client(gateway.port())) {
            assertThat(http2.get("/fair/2", "b").body()).isEqualTo("ok");

            gateway.terminate();
            gateway.awaitOutput(
                    Pattern.compile("Stopping: readiness is OUT_OF_SERVICE, and requests are served for 1h"));
            assertThat(management(gateway, "/actuator/health/readiness")).startsWith("HTTP/1.1 503");
            for (RawClient served : List.of(keptAlive, client(gateway))) {
                assertThat(served.get("/fair/3", "a").readAll())
                        .startsWith("HTTP/1.1 200")
                        .containsIgnoringCase("\r\nConnection: close\r\n")
                        .endsWith("ok");
            }
            assertThat(http2.awaitGoAway()).isEqualTo(Http2Error.NO_ERROR);
            assertThat(http2.get("/fair/on-its-way", "b").body()).isEqualTo("ok");
            assertThat(later.get("/fair/4", "b").body()).isEqualTo("ok");
            assertThat(later.awaitGoAway()).isEqualTo(Http2Error.NO_ERROR);
        }
        assertThat(gateway.isAlive()).isTrue();
    }

    @Test
    void after_the_grace_time_the_port_is_closed() throws Exception {
        Started gateway = serve("fairgate.shutdown-grace=500ms");
        try (RawHttp2Client http2 = new RawHttp2Client(gateway.port())) {
            assertThat(http2.get("/fair/1", "a").body()).isEqualTo("ok");
            RawClient held = client(gateway).get("/fair/held", "b");
            awaitPool(gateway, 1, 0);
            gateway.terminate();
            gateway.awaitOutput(Pattern.compile("Stopping: .*\\R?.*Draining: 1 in flight", Pattern.DOTALL));
            assertListensNoMore(gateway);
            http2.awaitClose();
            release.countDown();
            assertThat(held.readAll()).endsWith("held");
        }
        assertThat(gateway.awaitExit()).isZero();
        assertThat(upstream.requests()).as("requests that are forwarded").hasSize(2);
    }

    /** A route without a pool, and an answer larger than the buffers of the sockets, which its client reads late. */
    @Test
    void answers_outside_of_pools_are_finished_to_the_last_byte() throws Exception {
        int size = 20_000_000;
        Started gateway = serve();
        upstream.on(
                "/plain/large",
                exchange -> exchange.sendLast(
                        "HTTP/1.1 200 OK\r\nContent-Length: " + size + "\r\n\r\n" + "x".repeat(size)));
        RawClient held = client(gateway).get("/plain/held", "a");
        RawClient large = client(gateway).get("/plain/large", "a");
        large.readUntil("xxx");
        RunningGateway.eventually(() ->
                assertThat(upstream.requests()).contains("GET /plain/held HTTP/1.1", "GET /plain/large HTTP/1.1"));

        gateway.terminate();
        gateway.awaitOutput(Pattern.compile("Draining: 0 in flight, 0 waiting"));
        assertListensNoMore(gateway);
        assertThat(large.readAll()).endsWith("x").hasSizeGreaterThan(size - 100_000);
        assertThat(gateway.isAlive()).isTrue();
        release.countDown();
        assertThat(held.readAll()).startsWith("HTTP/1.1 200").endsWith("held");
        assertThat(gateway.awaitExit()).isZero();
        assertThat(gateway.out()).contains("Drained: ").doesNotContain("WARN");
    }

    @Test
    void an_idle_process_ends_at_once_in_spite_of_open_connections() throws Exception {
        Started gateway = serve("fairgate.drain-time=1h", "spring.lifecycle.timeout-per-shutdown-phase=1h");
        RawClient keptAlive = client(gateway);
        keptAlive.get("/fair/1", "a").readUntil("ok");
        assertThat(gateway.terminate().awaitExit()).isZero();
        assertThat(keptAlive.readAll()).isEmpty();
        assertThat(gateway.out()).contains("Draining: 0 in flight, 0 waiting").contains("Drained: ");
    }

    @Test
    void an_interrupt_drains_like_a_signal_to_terminate() throws Exception {
        Started gateway = serve();
        RawClient stream = client(gateway).get("/fair/stream", "a");
        stream.readUntil("first");
        assumeFalse(gateway.ignoresInterrupt(), "SIGINT is ignored by what started these tests");
        gateway.signal("INT");
        gateway.awaitOutput(Pattern.compile("Draining: 1 in flight"));
        release.countDown();
        assertThat(stream.readAll()).contains("last");
        assertThat(gateway.awaitExit()).isZero();
        assertThat(gateway.out()).contains("Drained: ");
    }

    @Test
    void a_client_with_an_open_stream_that_leaves_is_not_waited_for() throws Exception {
        // Nothing else ends the wait before the test gives up.
        Started gateway = serve(
                "spring.lifecycle.timeout-per-shutdown-phase=1h",
                "spring.cloud.gateway.server.webflux.httpclient.response-timeout=1h");
        try (RawHttp2Client http2 = new RawHttp2Client(gateway.port())) {
            http2.get("/plain/held", "a");
            RunningGateway.eventually(() -> assertThat(upstream.requests()).hasSize(1));
            gateway.terminate();
            gateway.awaitOutput(Pattern.compile("Commencing graceful shutdown"));
        }
        assertThat(gateway.awaitExit()).isZero();
        assertThat(gateway.out()).contains("Drained: ").doesNotContain("WARN");
    }

    @Tag("long")
    @Test
    void with_an_immediate_shutdown_requests_without_a_permit_are_cut_off() throws Exception {
        Started gateway = serve("server.shutdown=immediate");
        RawClient held = client(gateway).get("/plain/held", "a");
        RunningGateway.eventually(() -> assertThat(upstream.requests()).hasSize(1));
        assertThat(gateway.terminate().awaitExit()).isZero();
        assertThat(held.readAll()).isEmpty();
        assertThat(gateway.out()).doesNotContain("WARN");
    }

    @Tag("long")
    @Test
    void work_beyond_every_bound_does_not_keep_the_process_running() throws Exception {
        Started gateway = serve("fairgate.drain-time=1s", "spring.lifecycle.timeout-per-shutdown-phase=2s");
        RawClient stream = client(gateway).get("/fair/stream", "a");
        stream.readUntil("first");
        assertThat(gateway.terminate().awaitExit()).isZero();
        assertThat(gateway.out())
                .contains("1 bean still running after timeout of 2000ms: [fairgateGracefulShutdown]")
                .contains("WARN", "took longer than spring.lifecycle.timeout-per-shutdown-phase: 1.");
    }
}
