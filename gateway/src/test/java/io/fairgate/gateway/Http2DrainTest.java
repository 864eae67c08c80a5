package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Graceful shutdown over HTTP/2: open streams are served, and a client learns at once that it cannot open new ones. */
@Tag("long")
class Http2DrainTest {

    private final CountDownLatch mayEnd = new CountDownLatch(1);

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @BeforeEach
    void start() {
        upstream.on("/fair/held", exchange -> {
            exchange.await(mayEnd);
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nheld");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"));
    }

    /** Starts the shutdown, and returns when the gateway accepts no more requests. */
    private CompletableFuture<Void> beginToEnd(RawHttp2Client probe) throws Exception {
        CompletableFuture<Void> ended = CompletableFuture.runAsync(gateway::close);
        assertThat(probe.awaitGoAway()).isEqualTo(Http2Error.NO_ERROR);
        return ended;
    }

    @Test
    void goaway_comes_at_once_and_the_open_streams_are_served() throws Exception {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port());
                RawHttp2Client idle = new RawHttp2Client(gateway.port())) {
            assertThat(idle.get("/plain/x", "b").body()).isEqualTo("ok");
            RawHttp2Client.Stream held = client.get("/fair/held", "a");
            gateway.awaitInFlight("pool", 1);
            RawHttp2Client.Stream waiting = client.get("/fair/waiting", "b");
            gateway.awaitWaiting("pool", 1);

            CompletableFuture<Void> ended = beginToEnd(client);
            assertThat(idle.awaitGoAway()).isEqualTo(Http2Error.NO_ERROR);
            idle.awaitClose();
            RawHttp2Client.Stream late = client.get("/fair/late", "c");
            mayEnd.countDown();
            assertThat(held.status()).isEqualTo("200");
            assertThat(held.body()).isEqualTo("held");
            assertThat(waiting.body()).isEqualTo("ok");
            client.awaitClose();
            ended.join();
            assertThat(late.hasAnswer()).isFalse();
        }
        assertThat(upstream.requests()).doesNotContain("GET /fair/late HTTP/1.1");
    }

    @Test
    void a_real_client_gets_the_answers_that_it_waits_for() throws Exception {
        ConnectionProvider one = ConnectionProvider.create("one", 1);
        HttpClient client =
                HttpClient.create(one).protocol(HttpProtocol.H2C).headers(headers -> headers.set("X-Tenant-Id", "a"));
        try (RawHttp2Client probe = new RawHttp2Client(gateway.port())) {
            probe.get("/plain/x", "b").body();
            CompletableFuture<String> held = get(client, "/fair/held");
            gateway.awaitInFlight("pool", 1);
            CompletableFuture<String> waiting = get(client, "/fair/waiting");
            gateway.awaitWaiting("pool", 1);
            CompletableFuture<Void> ended = beginToEnd(probe);
            mayEnd.countDown();
            assertThat(held.join()).isEqualTo("held");
            assertThat(waiting.join()).isEqualTo("ok");
            ended.join();
        } finally {
            one.dispose();
        }
    }

    private CompletableFuture<String> get(HttpClient client, String path) {
        return client.get()
                .uri(gateway.url(path))
                .responseContent()
                .aggregate()
                .asString()
                .toFuture();
    }
}
