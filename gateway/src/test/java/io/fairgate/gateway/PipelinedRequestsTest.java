package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that arrive on a connection before the earlier ones are answered (RFC 9112, section 9.3.2). */
class PipelinedRequestsTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final CountDownLatch answerFirst = new CountDownLatch(1);

    @BeforeEach
    void holdTheFirst() {
        upstream.on("/fair/slow", exchange -> {
            exchange.await(answerFirst);
            ScriptedUpstream.OK.answer(exchange);
        });
    }

    /** Reactor Netty 1.3.7 read no more from such a connection (its issue 4361): docs/decisions/0002-versions.md. */
    @Test
    void after_a_refused_pipelined_request_the_connection_is_read_further() throws Exception {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s"));
        try (RawClient client = new RawClient(gateway.port())) {
            client.send(get("/fair/slow", "X-Tenant-Id: a\r\n") + get("/fair/nobody", ""));
            gateway.awaitInFlight("pool", 1);
            answerFirst.countDown();
            assertThat(client.readUntil("\"decision\"")).contains("200 OK").contains("401 Unauthorized");
            client.readUntil("}");

            client.get("/fair/third", "a");

            assertThat(client.readUntil("ok")).contains("200 OK");
        }
    }

    /** Reactor Netty 1.3.8 closes the connection after the first answer. */
    @Test
    void a_request_that_is_the_last_is_answered_too() throws Exception {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 4, max-wait: 20s"));
        try (RawClient client = new RawClient(gateway.port())) {
            client.send(get("/fair/slow", "X-Tenant-Id: a\r\n")
                    + get("/fair/second", "X-Tenant-Id: a\r\n")
                    + get("/fair/last", "X-Tenant-Id: b\r\nConnection: close\r\n"));
            gateway.awaitInFlight("pool", 1);
            answerFirst.countDown();
            assertThat(client.readAll().split("HTTP/1.1 200 OK", -1)).hasSize(4);
        }
        assertThat(upstream.requests())
                .containsExactly("GET /fair/slow HTTP/1.1", "GET /fair/second HTTP/1.1", "GET /fair/last HTTP/1.1");
    }

    /** Each of these requests takes a permit when its turn has come, not before. */
    @Test
    void many_requests_at_once_are_answered_in_their_order_one_at_a_time() throws Exception {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 4"));
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            all.append(get("/fair/" + i, "X-Tenant-Id: a\r\n"));
        }
        try (RawClient client = new RawClient(gateway.port())) {
            client.send(all + get("/fair/last", "X-Tenant-Id: a\r\nConnection: close\r\n"));
            assertThat(client.readAll().split("HTTP/1.1 200 OK", -1)).hasSize(102);
        }
        assertThat(upstream.requests())
                .hasSize(101)
                .startsWith("GET /fair/0 HTTP/1.1")
                .endsWith("GET /fair/last HTTP/1.1");
        assertThat(upstream.highestConcurrency()).isOne();
    }

    private static String get(String path, String header) {
        return "GET " + path + " HTTP/1.1\r\nHost: test\r\n" + header + "\r\n";
    }
}
