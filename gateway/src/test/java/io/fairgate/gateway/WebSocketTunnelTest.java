package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The handshake of a WebSocket, the bytes behind it, and how both sides end. */
class WebSocketTunnelTest {

    static final String FIELDS =
            "Upgrade: websocket\r\nConnection: close, Upgrade\r\nAccept-Encoding: gzip\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    static final String ACCEPT = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    private static final int MANY_BYTES = 50_000_000;

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4")
                        .replace("[ \"FairShare=pool\" ]", "[ \"FairShare=pool\", \"AddResponseHeader=X-Red, blue\" ]"),
                "--server.compression.enabled=true",
                "--server.compression.min-response-size=1",
                "--spring.cloud.gateway.server.webflux.httpclient.pool.type=fixed",
                "--spring.cloud.gateway.server.webflux.httpclient.pool.max-connections=4");
    }

    @AfterEach
    void nothing_is_left_open() {
        both.gateway().awaitNothingLeft();
        RunningGateway.eventually(
                () -> assertThat(both.upstream().concurrency()).as("handshakes").isZero());
    }

    /** Then it closes the connection. */
    private static void upstreamDoes(ScriptedUpstream.Script script) {
        both.upstream().onHead("/fair/ws", exchange -> {
            script.answer(exchange);
            exchange.socket().close();
        });
    }

    private static String request(String method, String version, String fields) {
        return method + " /fair/ws HTTP/" + version + "\r\nHost: test\r\nX-Tenant-Id: a\r\n" + fields + "\r\n";
    }

    private static RawClient connect() throws IOException {
        return new RawClient(both.gateway().port()).send(request("GET", "1.1", FIELDS));
    }

    @Test
    void the_upstream_gets_the_handshake_and_the_client_its_answer() throws IOException {
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT.replace("\r\n\r\n", "\r\nX-Upstream: 1\r\nKeep-Alive: 5\r\n\r\n"));
            exchange.awaitClose();
        });
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send(
                    request("GET", "1.1", FIELDS + "Cookie: a=b\r\nX-Forwarded-For: forged\r\nHTTP2-Settings: x\r\n"));
            assertThat(client.readUntil("\r\n\r\n"))
                    .startsWith("HTTP/1.1 101 Switching Protocols\r\n")
                    .containsIgnoringCase("\r\nupgrade: websocket\r\n")
                    .containsIgnoringCase("\r\nconnection: upgrade\r\n")
                    .contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "X-Upstream: 1", "X-Red: blue")
                    .doesNotContainIgnoringCase("keep-alive")
                    .doesNotContainIgnoringCase("content-length")
                    .doesNotContainIgnoringCase("transfer-encoding");
        }
        assertThat(both.got())
                .startsWith("GET /fair/ws HTTP/1.1\r\n")
                .contains("dGhlIHNhbXBsZSBub25jZQ==", "a=b")
                .doesNotContain("forged");
        assertThat(both.got("Upgrade")).hasSize(1);
        assertThat(both.got("Connection")).singleElement().asString().containsIgnoringCase("upgrade");
    }

    @Test
    void bytes_that_come_with_the_answer_are_the_first_of_the_tunnel() throws IOException {
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT + "welcome");
            exchange.awaitClose();
        });
        try (RawClient client = connect()) {
            assertThat(client.readUntil("welcome")).endsWith("\r\n\r\nwelcome");
        }
    }

    @Test
    void an_upstream_that_closes_at_once_has_its_last_bytes_delivered() throws IOException {
        upstreamDoes(exchange -> exchange.send(ACCEPT + "x".repeat(1_000_000) + "bye"));
        try (RawClient client = connect()) {
            assertThat(client.readAll()).endsWith("xxxbye");
        }
    }

    /** Longer than a side may be silent after an end that has been sent. */
    @Test
    void a_client_that_pauses_before_it_reads_the_last_bytes_gets_all_of_them() throws Exception {
        upstreamDoes(exchange -> exchange.send(ACCEPT + "x".repeat(10_000_000) + "bye"));
        try (RawClient client = connect()) {
            client.readUntil("xxx");
            Thread.sleep(4_000);
            assertThat(client.readAll()).hasSize(10_000_000).endsWith("xxxbye");
        }
    }

    @Test
    void a_client_that_ends_its_output_still_gets_the_rest() throws IOException {
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT);
            String all = new String(exchange.in().readAllBytes(), StandardCharsets.ISO_8859_1);
            exchange.send("got " + all);
        });
        try (RawClient client = connect()) {
            client.readUntil("\r\n\r\n");
            assertThat(client.send("hello").shutdownOutput().readAll()).isEqualTo("got hello");
        }
    }

    @Test
    void an_upstream_that_ends_its_output_still_gets_the_rest() throws Exception {
        AtomicLong got = new AtomicLong();
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT + "close");
            exchange.socket().shutdownOutput();
            got.set(exchange.in().readAllBytes().length);
        });
        try (RawClient client = connect()) {
            client.readUntil("close");
            client.send("x".repeat(100_000)).shutdownOutput();
            assertThat(client.readAll()).isEmpty();
        }
        RunningGateway.eventually(() -> assertThat(got).hasValue(100_000));
    }

    @Test
    void an_upstream_that_reads_nothing_stops_the_client() throws Exception {
        CountDownLatch reads = new CountDownLatch(1);
        AtomicLong sent = new AtomicLong();
        AtomicLong got = new AtomicLong();
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT);
            reads.await();
            got.set(exchange.in().readAllBytes().length);
        });
        try (RawClient client = connect()) {
            client.readUntil("\r\n\r\n");
            Thread sender = new Thread(() -> trySendAll(client, sent));
            sender.start();
            awaitNoProgress(sent);
            long before = sent.get();
            reads.countDown();
            assertThat(before).isLessThan(MANY_BYTES);
            sender.join();
            client.shutdownOutput().readAll();
            RunningGateway.eventually(() -> assertThat(got).hasValue(MANY_BYTES));
        }
    }

    @Test
    void a_client_that_reads_nothing_stops_the_upstream() throws Exception {
        AtomicLong sent = new AtomicLong();
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT);
            sendAll(exchange.socket().getOutputStream(), sent);
        });
        try (RawClient client = connect()) {
            client.readUntil("\r\n\r\n");
            awaitNoProgress(sent);
            assertThat(sent.get()).isLessThan(MANY_BYTES);
            assertThat(client.readAll()).hasSize(MANY_BYTES);
        }
    }

    private static void sendAll(OutputStream to, AtomicLong sent) throws IOException {
        byte[] part = new byte[10_000];
        while (sent.get() < MANY_BYTES) {
            to.write(part);
            sent.addAndGet(part.length);
        }
    }

    private static void trySendAll(RawClient client, AtomicLong sent) {
        try {
            while (sent.get() < MANY_BYTES) {
                client.send("x".repeat(10_000));
                sent.addAndGet(10_000);
            }
        } catch (IOException e) {
            // The test sees that not all was sent.
        }
    }

    private static void awaitNoProgress(AtomicLong sent) throws InterruptedException {
        for (long before = -1; sent.get() != before || before == 0; ) {
            before = sent.get();
            Thread.sleep(300);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Upgrade: websocket\r\nConnection: Upgrade\r\n",
                "Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: other\r\n",
                "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
            })
    void an_upstream_that_switches_without_accepting_is_502(String fields) throws IOException {
        upstreamDoes(exchange -> {
            exchange.send("HTTP/1.1 101 Switching Protocols\r\n" + fields + "\r\n");
            exchange.awaitClose();
        });
        try (RawClient client = connect()) {
            assertThat(client.readUntil("}")).startsWith("HTTP/1.1 502 ").contains("upstream-lost");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET 1.1 Upgrade: websocket\r\n",
                "GET 1.1 Upgrade: websocket\r\nConnection: keep-alive\r\n",
                "GET 1.1 Upgrade: other\r\nConnection: Upgrade\r\n",
                "GET 1.0 Upgrade: websocket\r\nConnection: Upgrade\r\n",
                "POST 1.1 Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n",
                "GET 1.1 Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 1\r\n",
                "GET 1.1 Upgrade: websocket\r\nConnection: Upgrade\r\nTransfer-Encoding: chunked\r\n"
            })
    void other_requests_are_forwarded_without_an_upgrade(String request) throws IOException {
        upstreamDoes(ScriptedUpstream.OK);
        String[] parts = request.split(" ", 3);
        String body = request.contains("Length: 1") ? "x" : request.contains("chunked") ? "0\r\n\r\n" : "";
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send(request(parts[0], parts[1], parts[2]) + body);
            assertThat(client.readUntil("ok")).contains(" 200 OK");
        }
        assertThat(both.got()).doesNotContainIgnoringCase("upgrade");
    }

    @Test
    void after_a_refusal_the_connection_serves_the_next_request() throws IOException {
        both.upstream()
                .onHead(
                        "/fair/ws",
                        exchange -> exchange.sendLast("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"));
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send(request("GET", "1.1", FIELDS.replace("close, ", "")));
            assertThat(client.readUntil("no")).startsWith("HTTP/1.1 403 Forbidden\r\n");
            assertThat(client.get("/fair/x", "a").readUntil("ok")).contains("200 OK");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /fair/x HTTP/1.1\r\nHost: test\r\n\r\n", "no end of a line"})
    void a_client_that_does_not_wait_for_the_answer_is_disconnected(String early) throws IOException {
        AtomicLong got = new AtomicLong();
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT);
            got.set(exchange.in().read());
        });
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send(request("GET", "1.1", FIELDS) + early);
            assertThat(client.readAll()).doesNotContain("200 OK");
        }
        RunningGateway.eventually(() -> assertThat(got).hasValue(-1));
    }

    /** More tunnels, one after the other, than the HTTP client may have connections. */
    @Test
    void clients_that_leave_at_any_moment_leave_nothing_behind() throws Exception {
        upstreamDoes(exchange -> {
            exchange.send(ACCEPT + "welcome");
            exchange.awaitClose();
        });
        Random random = new Random(1);
        for (int i = 0; i < 100; i++) {
            RawClient client = connect();
            Thread.sleep(random.nextInt(20));
            switch (random.nextInt(3)) {
                case 0 -> client.reset();
                case 1 -> client.close();
                default -> client.shutdownOutput().readAll();
            }
        }
        RunningGateway.eventually(
                () -> assertThat(both.upstream().connections()).isLessThanOrEqualTo(4));
    }
}
