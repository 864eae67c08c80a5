package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A WebSocket holds its permit until either side closes it, in any way. */
class WebSocketTest {

    private static final String UPGRADE =
            "GET /fair/chat HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nUpgrade: websocket\r\n"
                    + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    /** A masked close frame with an empty payload (RFC 6455, section 5.5.1). */
    private static final String CLOSE_FRAME = "\u0088\u0080\u0000\u0000\u0000\u0000";

    /** A masked text frame; the mask is 0. */
    private static final String TEXT_FRAME = "\u0081\u0085\u0000\u0000\u0000\u0000hello";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();

    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes.ws("/fair/chat", (in, out) -> {
                in.withConnection(connections::add);
                return out.sendString(
                        Flux.just("welcome").concatWith(in.receive().asString()));
            }))
            .bindNow();

    private void startWithOnePermit(String maxHold) {
        gateway.start(TestPolicy.onePool(
                "ws://127.0.0.1:" + upstream.port(), "permits: 1, max-wait: 1s, max-hold: " + maxHold));
    }

    @AfterEach
    void stopUpstream() {
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private RawClient connect() throws IOException {
        RawClient client = new RawClient(gateway.port());
        assertThat(client.send(UPGRADE).readUntil("welcome")).contains("101 Switching Protocols");
        gateway.awaitInFlight("pool", 1);
        return client;
    }

    @Test
    void a_websocket_holds_its_permit_until_it_is_closed() throws IOException {
        startWithOnePermit("10m");
        try (RawClient client = connect()) {
            client.send(CLOSE_FRAME);
            gateway.awaitInFlight("pool", 0);
        }
    }

    @Test
    void a_websocket_has_no_end_of_headers() throws Exception {
        gateway.start(
                TestPolicy.onePool("ws://127.0.0.1:" + upstream.port(), "permits: 1, max-hold: 10m"),
                "--fairgate.clients.header-time=50ms");
        try (RawClient client = connect()) {
            client.send(TEXT_FRAME).readUntil("hello");
            Thread.sleep(100); // More than the header time; a busy machine makes it only longer.
            client.send(TEXT_FRAME).readUntil("hello");
            client.send(CLOSE_FRAME);
            gateway.awaitInFlight("pool", 0);
        }
    }

    @Test
    void a_websocket_that_drops_without_a_close_frame_releases_its_permit() throws IOException {
        startWithOnePermit("10m");
        connect().reset();
        gateway.awaitInFlight("pool", 0);
    }

    @Test
    void a_websocket_whose_client_just_closes_releases_its_permit() throws IOException {
        startWithOnePermit("10m");
        connect().close();
        gateway.awaitInFlight("pool", 0);
    }

    @Test
    void a_websocket_whose_upstream_closes_releases_its_permit() throws IOException {
        startWithOnePermit("10m");
        RawClient client = connect();
        for (Connection connection : connections) {
            connection.channel().close().syncUninterruptibly();
        }
        gateway.awaitInFlight("pool", 0);
        client.close();
    }

    @Test
    void a_websocket_that_is_held_too_long_is_closed() throws IOException {
        startWithOnePermit("5s");
        try (RawClient client = connect()) {
            assertThat(client.readAll()).doesNotContain("HTTP/1.1");
            gateway.awaitInFlight("pool", 0);
        }
    }

    @Test
    void an_upgrade_without_a_permit_is_refused_before_the_switch() throws IOException {
        startWithOnePermit("10m");
        try (RawClient holder = connect();
                RawClient second = new RawClient(gateway.port())) {
            assertThat(second.send(UPGRADE).readUntil("}"))
                    .contains("503 Service Unavailable")
                    .doesNotContain("101 ");
            holder.send(CLOSE_FRAME);
        }
    }

    @Test
    void a_websocket_is_charged_also_on_a_route_without_a_pool() throws IOException {
        gateway.start(TestPolicy.onePool("ws://127.0.0.1:" + upstream.port(), "permits: 1")
                .replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 1, per: 1h } ] }")
                .replace("filters: [ \"FairShare=pool\" ]", ""));
        try (RawClient first = new RawClient(gateway.port());
                RawClient second = new RawClient(gateway.port())) {
            assertThat(first.send(UPGRADE).readUntil("welcome")).contains("101 Switching Protocols");
            assertThat(second.send(UPGRADE).readUntil("}")).contains("429 Too Many Requests");
        }
        try (RawClient third = new RawClient(gateway.port())) {
            assertThat(third.send(UPGRADE).readUntil("}")).contains("429 Too Many Requests");
        }
    }

    @Test
    void in_dry_run_permits_are_held_as_long_as_the_websocket() throws IOException {
        gateway.start(
                TestPolicy.onePool("ws://127.0.0.1:" + upstream.port(), "permits: 1, max-wait: 60s, enforce: false"));
        try (RawClient first = connect();
                RawClient second = new RawClient(gateway.port())) {
            assertThat(second.send(UPGRADE).readUntil("welcome")).contains("101 Switching Protocols");
            gateway.awaitWaiting("pool", 1);
            assertThat(gateway.pool("pool").inFlight()).isOne();
            first.send(CLOSE_FRAME);
            gateway.awaitWaiting("pool", 0);
            gateway.awaitInFlight("pool", 1);
            second.send(CLOSE_FRAME);
            gateway.awaitInFlight("pool", 0);
        }
    }
}
