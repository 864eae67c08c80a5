package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How long both sides of a WebSocket may be silent, and how long its handshake may take. */
class WebSocketIdleTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4"),
                "--fairgate.websocket-idle=4s",
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=1s");
    }

    private static RawClient connect() throws IOException {
        return new RawClient(both.gateway().port())
                .send("GET /fair/ws HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + WebSocketTunnelTest.FIELDS
                        + "\r\n");
    }

    @Test
    void a_tunnel_in_which_nothing_passes_is_closed() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        both.upstream().onHead("/fair/ws", exchange -> {
            exchange.send(WebSocketTunnelTest.ACCEPT + "welcome");
            exchange.awaitClose();
            closed.countDown();
        });
        try (RawClient client = connect()) {
            assertThat(client.readAll()).endsWith("welcome");
            closed.await();
        }
    }

    /** Longer than it may be idle. */
    @Test
    void a_tunnel_in_which_bytes_pass_one_way_stays() throws Exception {
        both.upstream().onHead("/fair/ws", exchange -> {
            exchange.send(WebSocketTunnelTest.ACCEPT);
            for (int i = 0; i < 12; i++) {
                exchange.send(".");
                Thread.sleep(500);
            }
            exchange.send("end");
            exchange.socket().close();
        });
        try (RawClient client = connect()) {
            assertThat(client.readAll()).endsWith("............end");
        }
    }

    @Test
    void a_handshake_that_takes_too_long_is_504_and_holds_its_permit_for_the_upstream() throws IOException {
        CountDownLatch refused = new CountDownLatch(1);
        both.upstream().onHead("/fair/ws", exchange -> {
            refused.await();
            exchange.socket().close();
        });
        try (RawClient client = connect()) {
            assertThat(client.readUntil("}")).startsWith("HTTP/1.1 504 ").contains("upstream-timeout");
            assertThat(both.gateway().pool("pool").inFlight()).isOne();
            refused.countDown();
        }
    }
}
