package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client that closes its side of the connection after its request, and waits for the answer. Runs twice: on the native
 * transport, and on NIO (see the second execution of Surefire).
 */
@Tag("long")
class HalfClosedClientTest {

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final CountDownLatch firstMayEnd = new CountDownLatch(1);
    private final CountDownLatch restMayCome = new CountDownLatch(1);

    @BeforeEach
    void start() {
        upstream.on("/fair/first", exchange -> {
            exchange.await(firstMayEnd);
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
        });
        upstream.on("/fair/parts", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhead\r\n");
            exchange.await(restMayCome);
            exchange.send("4\r\ntail\r\n0\r\n\r\n");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"));
    }

    /** The answer without the 100 (Continue) before it. */
    private static String answer(RawClient client) throws IOException {
        return client.readAll().replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8192, 262_144, 4_194_304})
    void a_half_closed_client_gets_its_answer_after_a_wait(int bytes) throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient half = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            if (bytes == 0) {
                half.get("/fair/half", "b");
            } else {
                half.post("/fair/half", "b", bytes);
            }
            half.shutdownOutput();
            // The second one is sent only to a client that has not reset the connection at the first.
            half.readUntil("100 Continue\r\n\r\n");
            half.readUntil("100 Continue\r\n\r\n");
            gateway.awaitWaiting("pool", 1);
            firstMayEnd.countDown();
            assertThat(first.readUntil("first")).contains("200 OK");
            assertThat(answer(half)).startsWith("HTTP/1.1 200 OK\r\n").endsWith("ok");
        }
        assertThat(upstream.requests()).hasSize(2);
    }

    @Test
    void a_half_closed_client_gets_its_answer_with_an_unread_body() throws IOException {
        gateway.close();
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"), "--fairgate.waiting-bodies=1B");
        try (RawClient first = new RawClient(gateway.port());
                RawClient half = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            half.post("/fair/half", "b", 32_768).shutdownOutput();
            gateway.awaitWaiting("pool", 1);
            firstMayEnd.countDown();
            assertThat(first.readUntil("first")).contains("200 OK");
            assertThat(answer(half)).startsWith("HTTP/1.1 200 OK\r\n").endsWith("ok");
        }
    }

    @Test
    void a_half_closed_client_gets_its_answer_without_a_wait() throws IOException {
        try (RawClient half = new RawClient(gateway.port())) {
            assertThat(answer(half.get("/fair/x", "a").shutdownOutput()))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .endsWith("ok");
        }
    }

    @Test
    void every_pipelined_request_is_answered_before_the_connection_ends() throws IOException {
        try (RawClient half = new RawClient(gateway.port())) {
            half.get("/fair/1", "a").get("/fair/2", "a").get("/plain/3", "a").shutdownOutput();
            assertThat(answer(half).split("200 OK", -1)).hasSize(4);
        }
        assertThat(upstream.requests())
                .containsExactly("GET /fair/1 HTTP/1.1", "GET /fair/2 HTTP/1.1", "GET /plain/3 HTTP/1.1");
    }

    @Test
    void an_answer_in_several_parts_is_complete() throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient half = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            half.get("/fair/parts", "b").shutdownOutput().readUntil("100 Continue\r\n\r\n");
            firstMayEnd.countDown();
            half.readUntil("head");
            restMayCome.countDown();
            assertThat(half.readAll()).endsWith("4\r\ntail\r\n0\r\n\r\n");
        }
    }

    @Test
    void the_connection_stays_open_for_a_pipelined_request() throws IOException {
        try (RawClient half = new RawClient(gateway.port())) {
            half.get("/fair/parts", "b").get("/fair/first", "b");
            half.readUntil("head");
            half.shutdownOutput();
            restMayCome.countDown();
            half.readUntil("4\r\ntail\r\n0\r\n\r\n");
            half.readUntil("100 Continue\r\n\r\n");
            firstMayEnd.countDown();
            assertThat(answer(half)).endsWith("first");
        }
    }

    @Test
    void a_later_reset_of_a_half_closed_client_is_noticed() throws IOException {
        try (RawClient first = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            RawClient half = new RawClient(gateway.port());
            half.get("/fair/half", "b").shutdownOutput().readUntil("100 Continue\r\n\r\n");
            gateway.awaitWaiting("pool", 1);
            half.close();
            gateway.awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("first");
        }
        assertThat(upstream.requests()).hasSize(1);
    }

    @Test
    void a_client_that_closes_in_its_body_has_left() throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient half = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            half.send("POST /fair/half HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: b\r\nContent-Length: 100\r\n\r\npart");
            gateway.awaitWaiting("pool", 1);
            half.shutdownOutput();
            assertThat(half.readAll()).isEmpty();
            gateway.awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("first");
        }
        assertThat(upstream.requests()).hasSize(1);
    }

    /** HTTP/1.0 has no 100, and a front proxy that speaks it closes the whole connection when its client has left. */
    @Test
    void an_http_1_0_client_that_closes_has_left() throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient half = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            half.send("GET /fair/half HTTP/1.0\r\nHost: t\r\nX-Tenant-Id: b\r\n\r\n");
            gateway.awaitWaiting("pool", 1);
            half.shutdownOutput();
            assertThat(half.readAll()).isEmpty();
            gateway.awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("first");
        }
    }

    @Test
    void a_client_that_closes_during_a_pausing_answer_has_left() throws IOException {
        RawClient leaver = new RawClient(gateway.port());
        leaver.get("/fair/parts", "a").readUntil("head");
        leaver.shutdownOutput();
        assertThat(leaver.readAll()).doesNotContain("tail");
        restMayCome.countDown();
        leaver.close();
        gateway.awaitInFlight("pool", 0);
    }

    @Test
    void a_connection_without_a_request_ends_with_its_client() throws IOException {
        try (RawClient idle = new RawClient(gateway.port())) {
            idle.get("/fair/x", "a").readUntil("ok");
            assertThat(idle.shutdownOutput().readAll()).isEmpty();
        }
    }

    @Test
    void over_http2_the_end_of_the_connection_ends_its_streams() throws Exception {
        try (RawClient first = new RawClient(gateway.port());
                RawHttp2Client half = new RawHttp2Client(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            half.get("/plain/x", "b").body();
            half.get("/fair/half", "b");
            gateway.awaitWaiting("pool", 1);
            half.shutdownOutput();
            half.awaitClose();
            gateway.awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("first");
        }
    }
}
