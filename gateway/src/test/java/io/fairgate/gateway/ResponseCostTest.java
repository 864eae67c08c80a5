package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * The actual cost of a request. A test that reads the balance of a tenant has its own tenant.
 */
class ResponseCostTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private static final Balances balances = new Balances(gateway);

    private static final DisposableServer webSockets = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle((request, response) ->
                    response.header("X-Cost", "2").sendWebsocket((in, out) -> out.sendString(Mono.just("welcome"))))
            .bindNow();

    private static final List<String> TENANTS =
            List.of("bytes", "empty", "field", "kept", "numbers", "lost", "failed", "broken", "again", "left");

    @BeforeAll
    static void start() throws IOException {
        int unusedPort;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            unusedPort = free.getLocalPort();
        }
        StringBuilder members = new StringBuilder();
        TENANTS.forEach(tenant -> members.append("    %s: { plan: ten }\n".formatted(tenant)));
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  plans:
                    ten: { quotas: [ { name: total, limit: 10, per: total } ] }
                    many: { quotas: [ { name: total, limit: 1000000, per: total } ] }
                  members:
                MEMBERS    odd: { plan: many }
                pools:
                  pool: { permits: 4 }
                routes:
                  - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
                  - { id: five, uri: "UPSTREAM", predicates: [ "Path=/five/**" ], filters: [ "Cost=5", "FairShare=pool" ] }
                  - id: bytes
                    uri: "UPSTREAM"
                    predicates: [ "Path=/bytes/**" ]
                    filters: [ { name: Cost, args: { units: 5, response: bytes, per: 1KB } }, "FairShare=pool" ]
                  - id: field
                    uri: "UPSTREAM"
                    predicates: [ "Path=/field/**" ]
                    filters: [ { name: Cost, args: { units: 5, response: "header:X-Cost", max: 6 } }, "FairShare=pool" ]
                  - id: kept
                    uri: "UPSTREAM"
                    predicates: [ "Path=/kept/first/**" ]
                    filters: [ RemoveResponseHeader=X-Cost, BY_FIELD, "FairShare=pool" ]
                  - id: kept-last
                    uri: "UPSTREAM"
                    predicates: [ "Path=/kept/last/**" ]
                    filters: [ BY_FIELD, "FairShare=pool", RemoveResponseHeader=X-Cost ]
                  - id: kept-replaced
                    uri: "UPSTREAM"
                    predicates: [ "Path=/kept/replaced/**" ]
                    filters: [ BY_FIELD, "FairShare=pool", "SetResponseHeader=X-Cost,0" ]
                  - id: again
                    uri: "UPSTREAM"
                    predicates: [ "Path=/again/**" ]
                    filters: [ BY_FIELD, "FairShare=pool", { name: Retry, args: { retries: 1 } } ]
                  - id: socket
                    uri: "ws://127.0.0.1:SOCKETS"
                    predicates: [ "Path=/socket/field" ]
                    filters: [ BY_FIELD, "FairShare=pool" ]
                  - id: socket-bytes
                    uri: "ws://127.0.0.1:SOCKETS"
                    predicates: [ "Path=/socket/bytes" ]
                    filters: [ { name: Cost, args: { units: 5, response: bytes } }, "FairShare=pool" ]
                  - { id: lost, uri: "http://127.0.0.1:UNUSED_PORT", predicates: [ "Path=/lost/**" ], filters: [ "Cost=7" ] }
                """.replace("BY_FIELD", "{ name: Cost, args: { units: 5, response: 'header:X-Cost' } }")
                .replace("UPSTREAM", upstream.url())
                .replace("SOCKETS", "" + webSockets.port())
                .replace("UNUSED_PORT", "" + unusedPort)
                .replace("MEMBERS", members));
    }

    @AfterAll
    static void stopWebSockets() {
        webSockets.disposeNow(Duration.ofSeconds(30));
    }

    /** The cost of a request. It is settled before its permit is released; until then the estimate is charged. */
    private static long taken(Runnable request) {
        long before = balances.of("odd", "plain").get(0);
        request.run();
        gateway.awaitInFlight("pool", 0);
        return before - balances.of("odd", "plain").get(0);
    }

    private static Answer ask(String path, String tenant) {
        return Answer.to(gateway.url(path), "X-Tenant-Id", tenant);
    }

    @Test
    void the_bytes_of_a_response_correct_the_estimate_after_the_last_one() {
        upstream.on(
                "/bytes/x",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2049\r\n\r\n" + "x".repeat(2049)));
        ask("/bytes/x", "bytes");
        balances.await("bytes", 7);
        upstream.on(
                "/bytes/large",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 20480\r\n\r\n" + "x".repeat(20480)));
        ask("/bytes/large", "bytes");
        RunningGateway.eventually(
                () -> assertThat(ask("/plain/x", "bytes").status()).isEqualTo(429));
    }

    @Test
    void a_response_without_a_body_costs_one_unit() throws IOException {
        upstream.on("/bytes/empty", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        upstream.on("/bytes/204", exchange -> exchange.send("HTTP/1.1 204 No Content\r\n\r\n"));
        upstream.on("/bytes/304", exchange -> exchange.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"));
        upstream.on("/bytes/head", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"));
        assertThat(ask("/bytes/empty", "empty").status()).isEqualTo(200);
        balances.await("empty", 9);
        assertThat(ask("/bytes/204", "empty").status()).isEqualTo(204);
        balances.await("empty", 8);
        assertThat(ask("/bytes/304", "empty").status()).isEqualTo(304);
        balances.await("empty", 7);
        try (RawClient client = new RawClient(gateway.port())) {
            client.send("HEAD /bytes/head HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Tenant-Id: empty\r\n\r\n");
            assertThat(client.readAll()).startsWith("HTTP/1.1 200 OK");
        }
        balances.await("empty", 6);
    }

    @Test
    void a_field_of_a_response_corrects_the_estimate() {
        upstream.on("/field/x", exchange -> exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 2\r\nContent-Length: 0\r\n\r\n"));
        upstream.on(
                "/field/more", exchange -> exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 99\r\nContent-Length: 0\r\n\r\n"));
        ask("/field/x", "field");
        balances.await("field", 8);
        ask("/field/more", "field");
        balances.await("field", 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "last", "replaced"})
    void the_cost_from_the_upstream_counts_even_if_the_client_does_not_get_it(String route) {
        upstream.on(
                "/kept/" + route + "/x",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 3\r\nContent-Length: 0\r\n\r\n"));
        assertThat(taken(() -> assertThat(ask("/kept/" + route + "/x", "odd").field("X-Cost"))
                        .isIn("", "0")))
                .isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "X-Cost: 0                       | 0",
                "X-Cost: 99999999999999999999999 | 6",
                "X-Cost: -1                      | 5",
                "X-Cost: 1e9                     | 5",
                "X-Cost: NaN                     | 5",
                "X-Cost: 2.5                     | 5",
                "X-Cost:                         | 5",
                "X-Cost: 2\\nX-Cost: 3           | 3",
                "X-Cost: 2, 4                    | 4",
                "X-Cost: 2\\nX-Cost: x           | 2",
                "X_Cost: 2                       | 5",
            })
    void the_cost_from_any_field_value_is_bounded(String lines, long units) {
        upstream.on(
                "/field/odd",
                exchange -> exchange.send(
                        "HTTP/1.1 200 OK\r\n" + lines.replace("\\n", "\r\n") + "\r\nContent-Length: 0\r\n\r\n"));
        assertThat(taken(() -> ask("/field/odd", "odd"))).isEqualTo(units);
    }

    @Test
    void a_request_that_was_not_sent_is_given_back() {
        for (int i = 0; i < 5; i++) {
            assertThat(ask("/lost/x", "lost").status()).isEqualTo(502);
            balances.await("lost", 10);
        }
    }

    @Test
    void a_request_that_failed_upstream_stays_charged() {
        upstream.on("/five/broken", exchange -> exchange.send("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"));
        upstream.on("/bytes/reset", ScriptedUpstream.Exchange::reset);
        assertThat(ask("/bytes/reset", "failed").status()).isEqualTo(502);
        balances.await("failed", 5);
        assertThat(ask("/five/broken", "failed").status()).isEqualTo(500);
        balances.await("failed", 0);
    }

    @Test
    void the_cost_from_a_later_failing_response_counts() {
        upstream.on(
                "/field/500", exchange -> exchange.send("HTTP/1.1 500 No\r\nX-Cost: 2\r\nContent-Length: 0\r\n\r\n"));
        upstream.on("/field/broken", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 3\r\nContent-Length: 9\r\n\r\n");
            exchange.reset();
        });
        assertThat(ask("/field/500", "broken").status()).isEqualTo(500);
        balances.await("broken", 8);
        assertThat(ask("/field/broken", "broken").status()).isEqualTo(502);
        balances.await("broken", 5);
    }

    @Test
    void after_a_retry_the_cost_from_the_last_response_counts() {
        AtomicInteger sent = new AtomicInteger();
        upstream.on("/again/x", exchange -> {
            boolean first = sent.getAndIncrement() % 2 == 0;
            exchange.send((first ? "HTTP/1.1 503 No\r\nX-Cost: 9" : "HTTP/1.1 200 OK\r\nX-Cost: 2")
                    + "\r\nContent-Length: 0\r\n\r\n");
        });
        upstream.on("/again/lost", exchange -> {
            if (sent.getAndIncrement() % 2 == 0) {
                exchange.send("HTTP/1.1 503 No\r\nX-Cost: 9\r\nContent-Length: 0\r\n\r\n");
            }
            exchange.reset();
        });
        assertThat(ask("/again/x", "again").status()).isEqualTo(200);
        balances.await("again", 8);
        assertThat(ask("/again/lost", "again").status()).isEqualTo(502);
        balances.await("again", 3);
        assertThat(sent).hasValue(4);
    }

    @Test
    void a_client_that_leaves_during_the_response_is_charged_the_estimate() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        upstream.on("/bytes/held", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nx");
            begun.countDown();
            exchange.awaitClose();
        });
        var asked = Answer.future(gateway.url("/bytes/held"), "X-Tenant-Id", "left");
        begun.await();
        balances.await("left", 5);
        asked.cancel(true);
        gateway.awaitInFlight("pool", 0);
        balances.await("left", 5);
    }

    @ParameterizedTest
    @CsvSource({"/socket/field, 2", "/socket/bytes, 5"})
    void a_websocket_is_charged_by_its_handshake_or_the_estimate(String path, long units) {
        assertThat(taken(() -> {
                    try (RawClient client = new RawClient(gateway.port())) {
                        client.send("GET " + path
                                        + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: odd\r\nUpgrade: websocket\r\n"
                                        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                                .readUntil("welcome");
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }))
                .isEqualTo(units);
    }
}
