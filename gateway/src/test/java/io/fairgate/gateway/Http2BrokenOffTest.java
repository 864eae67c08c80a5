package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers that are broken off: a client of HTTP/2 gets RST_STREAM, and its connection goes on. */
class Http2BrokenOffTest {

    private static final String HALF = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private void start(String... options) {
        start("permits: 1", options);
    }

    private void start(String pool, String[] options) {
        upstream.on("/fair/whole", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"));
        gateway.start(TestPolicy.onePool(upstream.url(), pool), options);
    }

    private void assertStreamIsReset() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            RawHttp2Client.Stream broken = client.get("/fair/broken", "a");
            assertThat(broken.status()).isEqualTo("200");
            assertThat(broken.reset()).isEqualTo(Http2Error.CANCEL);
            assertThat(client.get("/fair/whole", "a").status()).isEqualTo("200");
        }
        gateway.awaitInFlight("pool", 0);
    }

    @Test
    void an_upstream_that_stalls_in_its_body() throws IOException {
        upstream.on("/fair/broken", exchange -> {
            exchange.send(HALF);
            exchange.awaitClose();
        });
        start("--fairgate.upstream-body-idle=300ms");
        assertStreamIsReset();
    }

    @Test
    void an_upstream_that_closes_in_its_body() throws IOException {
        upstream.on("/fair/broken", exchange -> {
            exchange.send(HALF);
            exchange.socket().close();
        });
        start();
        assertStreamIsReset();
    }

    /** The client opens its window no further. The rest is dropped, and the permit comes back. */
    @Test
    void a_client_that_may_get_no_more_at_the_maximum_hold() throws IOException {
        upstream.on("/fair/broken", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + "x".repeat(300_000));
            exchange.awaitClose();
        });
        start("permits: 1, max-hold: 1s", new String[0]);
        assertStreamIsReset();
    }
}
