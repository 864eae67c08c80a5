package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * After every fault of an upstream the client gets an answer and the permit is released once: the only permit of the pool is
 * used again.
 */
class UpstreamFaultsTest {

    private static final String CHUNKED_START = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private void start(String... options) {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s"), options);
    }

    private String get(String path) throws IOException {
        try (RawClient client = new RawClient(gateway.port())) {
            return client.get(path, "a").readUntil("}");
        }
    }

    private void assertPermitIsBack() throws IOException {
        gateway.awaitInFlight("pool", 0);
        RunningGateway.eventually(() -> assertThat(upstream.concurrency()).isZero());
        try (RawClient client = new RawClient(gateway.port())) {
            assertThat(client.get("/fair/after", "b").readUntil("ok")).contains("200 OK");
        }
        assertThat(upstream.highestConcurrency()).isLessThanOrEqualTo(1);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void an_upstream_that_refuses_is_502_and_recorded(CapturedOutput output) throws IOException {
        int closedPort;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closedPort = server.getLocalPort();
        }
        gateway.start(
                TestPolicy.onePool("http://127.0.0.1:" + closedPort, "permits: 1"),
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate=info");
        assertThat(get("/fair/x"))
                .contains("502 Bad Gateway", "application/problem+json", "\"reason\":\"upstream-lost\"");
        assertThat(get("/fair/y")).contains("502 Bad Gateway");
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .containsPattern("\"path\":\"/fair/x\",\"status\":502,[^\n]*\"reason\":\"upstream-lost\"")
                .containsPattern("\"path\":\"/fair/y\",\"status\":502,[^\n]*\"reason\":\"upstream-lost\""));
        assertThat(MetricsPage.of(gateway)
                        .value("fairgate_failures_total", "pool", "pool", "tenant", "a", "reason", "upstream-lost"))
                .isEqualTo(2);
    }

    @Test
    void an_upstream_that_resets_before_its_headers_is_502() throws IOException {
        upstream.on("/fair/x", ScriptedUpstream.Exchange::reset);
        start();
        assertThat(get("/fair/x")).contains("502 Bad Gateway");
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_closes_before_its_headers_is_502() throws IOException {
        upstream.on("/fair/x", exchange -> exchange.socket().close());
        start();
        assertThat(get("/fair/x")).contains("502 Bad Gateway");
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_stalls_before_its_headers_is_504_and_with_close_its_connection_is_closed() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        upstream.on("/fair/x", exchange -> {
            exchange.awaitClose();
            closed.countDown();
        });
        gateway.start(
                TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s, on-client-left: close"),
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=300ms");
        assertThat(get("/fair/x")).contains("504 Gateway Timeout", "\"reason\":\"upstream-timeout\"");
        closed.await();
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_stalls_before_its_body_is_504_without_its_headers() throws Exception {
        upstream.on("/fair/x", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"1\"\r\nSet-Cookie: a=b\r\n"
                    + "Content-Encoding: gzip\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n");
            exchange.awaitClose();
        });
        start("--fairgate.upstream-body-idle=300ms");
        assertThat(get("/fair/x"))
                .contains("504 Gateway Timeout", "application/problem+json", "Cache-Control: no-store")
                .contains("Server-Timing: fairgate;dur=")
                .doesNotContain("max-age", "ETag", "Set-Cookie", "gzip", "text/html", "1000");
        assertPermitIsBack();
    }

    @Test
    void a_failure_is_counted_and_its_cause_is_only_logged() throws Exception {
        upstream.on("/fair/x", ScriptedUpstream.Exchange::reset);
        start();
        String answer = get("/fair/x");
        String cause = "Connection reset";
        assertThat(answer).doesNotContain(cause);
        Matcher decision = Pattern.compile("\"decision\":\"(\\w+)\"").matcher(answer);
        assertThat(decision.find()).isTrue();
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions/" + decision.group(1)))
                        .json())
                .containsEntry("reason", "upstream-lost")
                .containsEntry("tenant", "a")
                .containsEntry("route", "fair")
                .containsEntry("peer", "127.0.0.1")
                .hasEntrySatisfying("cause", text -> assertThat(text).asString().contains(cause));
        assertThat(MetricsPage.of(gateway)
                        .value("fairgate_failures_total", "pool", "pool", "tenant", "a", "reason", "upstream-lost"))
                .isEqualTo(1);
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_stalls_in_its_body_is_cut_off_and_the_answer_does_not_look_complete() throws Exception {
        upstream.on("/fair/x", exchange -> {
            exchange.send(CHUNKED_START);
            exchange.awaitClose();
        });
        start("--fairgate.upstream-body-idle=300ms");
        assertBrokenOff();
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_resets_in_its_body_breaks_the_answer_off() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        upstream.on("/fair/x", exchange -> {
            exchange.send(CHUNKED_START);
            exchange.await(seen);
            exchange.reset();
        });
        start();
        try (RawClient client = new RawClient(gateway.port())) {
            client.get("/fair/x", "a").readUntil("hello");
            seen.countDown();
            assertThat(restOf(client)).doesNotContain("0\r\n\r\n");
        }
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_closes_in_its_body_breaks_the_answer_off() throws Exception {
        upstream.on("/fair/x", exchange -> {
            exchange.send(CHUNKED_START);
            exchange.socket().close();
        });
        start();
        assertBrokenOff();
        assertPermitIsBack();
    }

    @Test
    void an_upstream_that_drips_for_ever_is_cut_off_at_the_maximum_hold() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        upstream.on("/fair/x", exchange -> {
            exchange.send(CHUNKED_START);
            exchange.awaitClose();
            closed.countDown();
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-hold: 400ms"));
        assertBrokenOff();
        closed.await();
        assertPermitIsBack();
    }

    /** Also what the operating system has taken for it: no reset takes that away. */
    @Test
    void a_client_that_reads_late_gets_what_was_sent_before_a_body_is_broken_off() throws Exception {
        upstream.on("/fair/x", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + "x".repeat(1_000_000));
            exchange.awaitClose();
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-hold: 4s"));
        try (RawClient client = new RawClient(gateway.port()).get("/fair/x", "a")) {
            assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 200");
            gateway.awaitInFlight("pool", 0);
            assertThat(client.readAll()).hasSizeGreaterThanOrEqualTo(1_000_000);
        }
    }

    @Test
    void a_request_that_is_held_too_long_before_its_headers_is_504() throws Exception {
        upstream.on("/fair/x", ScriptedUpstream.Exchange::awaitClose);
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-hold: 400ms"));
        assertThat(get("/fair/x")).contains("504 Gateway Timeout", "\"reason\":\"max-hold\"");
        assertPermitIsBack();
    }

    @Test
    void with_close_a_client_that_leaves_before_the_headers_releases_its_permit() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        upstream.on("/fair/x", exchange -> {
            arrived.countDown();
            exchange.awaitClose();
            closed.countDown();
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s, on-client-left: close"));
        RawClient client = new RawClient(gateway.port()).get("/fair/x", "a");
        arrived.await();
        client.reset();
        closed.await();
        assertPermitIsBack();
    }

    @Test
    void a_client_that_leaves_in_the_body_closes_the_upstream_connection() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        upstream.on("/fair/x", exchange -> {
            exchange.send(CHUNKED_START);
            exchange.awaitClose();
            closed.countDown();
        });
        start();
        RawClient client = new RawClient(gateway.port()).get("/fair/x", "a");
        client.readUntil("hello");
        client.close();
        closed.await();
        assertPermitIsBack();
    }

    @Test
    void a_retry_filter_tries_again_within_the_one_permit() throws IOException {
        upstream.on("/fair/x", exchange -> {
            boolean first = upstream.requests().size() == 1;
            exchange.sendLast(
                    first
                            ? "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
                            : "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n}");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 1s")
                .replace("[ \"FairShare=pool\" ]", "[ \"FairShare=pool\", \"Retry=2\" ]"));
        assertThat(get("/fair/x")).contains("200 OK");
        assertThat(upstream.requests()).hasSize(2);
        assertPermitIsBack();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST"})
    void a_retry_after_a_wait_sends_the_whole_request_again(String method) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        upstream.on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        upstream.on("/fair/x", exchange -> {
            boolean first = upstream.requests().size() == 2;
            exchange.sendLast(
                    first
                            ? "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
                            : "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n}");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s")
                .replace(
                        "[ \"FairShare=pool\" ]",
                        "[ \"FairShare=pool\", { name: Retry, args: { retries: 2, methods: %s } } ]"
                                .formatted(method)));
        try (RawClient holder = new RawClient(gateway.port());
                RawClient client = new RawClient(gateway.port())) {
            holder.get("/fair/held", "b");
            gateway.awaitInFlight("pool", 1);
            if (method.equals("GET")) {
                client.get("/fair/x", "a");
            } else {
                client.post("/fair/x", "a", 200_000);
            }
            gateway.awaitWaiting("pool", 1);
            end.countDown();
            assertThat(client.readUntil("}")).contains("200 OK");
        }
        assertThat(upstream.requests()).hasSize(3);
        assertPermitIsBack();
    }

    private void assertBrokenOff() throws IOException {
        try (RawClient client = new RawClient(gateway.port())) {
            client.get("/fair/x", "a").readUntil("hello");
            assertThat(restOf(client)).doesNotContain("0\r\n\r\n");
        }
    }

    /** Reads the rest; a reset counts as the end. */
    private static String restOf(RawClient client) throws IOException {
        try {
            return client.readAll();
        } catch (SocketException e) {
            return "";
        }
    }

    /** The received part would be another request than the client's. */
    @Test
    void a_request_with_broken_chunks_is_400_and_never_complete_at_the_upstream() throws Exception {
        Queue<String> got = new ConcurrentLinkedQueue<>();
        upstream.on("/fair/x", exchange -> {
            try {
                got.add(new String(exchange.in().readAllBytes(), StandardCharsets.ISO_8859_1));
            } catch (IOException reset) {
                got.add("a reset");
            }
        });
        start();
        try (RawClient client = new RawClient(gateway.port())) {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            client.send("3\r\nabc\r\nzz\r\n");
            assertThat(client.readAll()).startsWith("HTTP/1.1 400 ");
        }
        assertPermitIsBack();
        assertThat(got).noneMatch(body -> body.contains("0\r\n\r\n"));
    }
}
