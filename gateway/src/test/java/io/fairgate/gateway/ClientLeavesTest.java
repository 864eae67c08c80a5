package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A client that leaves while its request waits frees its place at once, and its request is never forwarded. Runs twice:
 * on the native transport, and once more on NIO (see the second execution of Surefire).
 */
class ClientLeavesTest {

    enum Leaving {
        FIN,
        RST;

        void leave(RawClient client) throws IOException {
            if (this == FIN) {
                client.close();
            } else {
                client.reset();
            }
        }
    }

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final CountDownLatch firstMayEnd = new CountDownLatch(1);

    @BeforeEach
    void holdTheOnlyPermit() {
        upstream.on("/fair/first", exchange -> {
            exchange.await(firstMayEnd);
            exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"));
    }

    @ParameterizedTest(name = "a body of {0} bytes, by {1}")
    @CsvSource({
        "0, FIN",
        "0, RST",
        "8192, FIN",
        "8192, RST",
        "65536, FIN",
        "65536, RST",
        "262144, FIN",
        "262144, RST",
        "4194304, FIN",
        "4194304, RST"
    })
    void a_client_that_leaves_while_it_waits_frees_its_place_and_is_never_forwarded(int bytes, Leaving leaving)
            throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient next = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            RawClient leaver = new RawClient(gateway.port());
            sendAndWait(leaver, bytes);
            leaving.leave(leaver);
            gateway.awaitWaiting("pool", 0);

            next.get("/fair/next", "b");
            gateway.awaitWaiting("pool", 1);
            firstMayEnd.countDown();
            assertThat(first.readUntil("first")).contains("200 OK");
            assertThat(next.readUntil("ok")).contains("200 OK");
        }
        assertThat(upstream.requests()).containsExactly("GET /fair/first HTTP/1.1", "GET /fair/next HTTP/1.1");
        assertThat(upstream.highestConcurrency()).isOne();
    }

    private void sendAndWait(RawClient client, int bytes) throws IOException {
        if (bytes == 0) {
            client.get("/fair/leaver", "c");
        } else {
            client.post("/fair/leaver", "c", bytes);
        }
        gateway.awaitWaiting("pool", 1);
    }

    @Test
    void a_client_that_leaves_in_the_middle_of_its_body_frees_its_place() throws IOException {
        try (RawClient first = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            RawClient leaver = new RawClient(gateway.port());
            leaver.send(
                    "POST /fair/leaver HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: b\r\nContent-Length: 100000\r\n\r\npart");
            gateway.awaitWaiting("pool", 1);
            leaver.close();
            gateway.awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("first");
        }
        assertThat(upstream.requests()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"0", "8192", "262144", "4194304"})
    void a_body_that_was_read_while_it_waited_reaches_the_upstream_whole(int bytes) throws IOException {
        upstream.on("/fair/next", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        try (RawClient first = new RawClient(gateway.port());
                RawClient next = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            next.post("/fair/next", "b", bytes);
            gateway.awaitWaiting("pool", 1);
            firstMayEnd.countDown();
            first.readUntil("first");
            // The upstream answers only after it has read as many bytes as Content-Length says.
            assertThat(next.readUntil("ok")).contains("200 OK");
        }
    }

    @Test
    void a_client_gets_100_continue_only_after_its_permit() throws IOException {
        try (RawClient first = new RawClient(gateway.port());
                RawClient careful = new RawClient(gateway.port())) {
            first.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            careful.send("POST /fair/next HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: b\r\nContent-Length: 4\r\n"
                    + "Expect: 100-continue\r\n\r\n");
            gateway.awaitWaiting("pool", 1);
            assertThat(careful.available()).isZero();
            firstMayEnd.countDown();
            first.readUntil("first");
            assertThat(careful.readUntil("\r\n\r\n")).contains("100 Continue");
            assertThat(careful.send("body").readUntil("ok")).contains("200 OK");
        }
    }
}
