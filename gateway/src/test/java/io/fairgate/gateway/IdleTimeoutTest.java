package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code server.netty.idle-timeout} closes connections of clients that send no request. */
class IdleTimeoutTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"), "--server.netty.idle-timeout=300ms");
    }

    @Test
    void a_connection_of_http1_is_closed_after_its_last_request() throws Exception {
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.get("/fair/x", "a").readUntil("ok");
            assertThat(client.readAll()).isEmpty();
        }
    }

    @Test
    void a_connection_without_any_request_is_closed() throws Exception {
        try (RawClient client = new RawClient(both.gateway().port())) {
            assertThat(client.readAll()).isEmpty();
        }
    }

    @Test
    void a_connection_of_http2_is_closed_after_its_last_request() throws Exception {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
            client.awaitClose();
        }
    }

    @Test
    void a_connection_of_the_management_port_is_closed() throws Exception {
        try (RawClient client = new RawClient(both.gateway().managementPort())) {
            client.send("GET /actuator/health/liveness HTTP/1.1\r\nHost: test\r\n\r\n")
                    .readUntil("UP");
            assertThat(client.readAll()).doesNotContain("HTTP/1.1");
        }
    }

    @Test
    void a_request_that_takes_longer_is_not_cut() throws Exception {
        CountDownLatch waited = new CountDownLatch(1);
        both.upstream().on("/fair/slow", exchange -> {
            assertThat(waited.await(30, TimeUnit.SECONDS)).isTrue();
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.get("/fair/slow", "a");
            Thread.sleep(900); // Three times the timeout.
            waited.countDown();
            assertThat(client.readUntil("ok")).startsWith("HTTP/1.1 200 ");
        }
    }
}
