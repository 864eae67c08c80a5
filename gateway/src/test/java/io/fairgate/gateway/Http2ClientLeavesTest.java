package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/** Clients of HTTP/2 leave by resetting a stream, or by breaking the protocol on it, and keep the connection. */
class Http2ClientLeavesTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @ParameterizedTest
    @ValueSource(ints = {0, 8192, 262_144})
    void a_reset_stream_frees_its_place_and_is_never_forwarded(int bytes) {
        CountDownLatch mayEnd = new CountDownLatch(1);
        upstream.on("/fair/first", exchange -> {
            exchange.await(mayEnd);
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"));
        HttpClient client = HttpClient.newConnection()
                .protocol(HttpProtocol.H2C)
                .baseUrl(gateway.url(""))
                .headers(headers -> headers.set("X-Tenant-Id", "a"));
        Mono<String> first = client.get()
                .uri("/fair/first")
                .responseContent()
                .aggregate()
                .asString()
                .cache();
        Disposable running = first.subscribe();
        gateway.awaitInFlight("pool", 1);

        Disposable leaver = client.post()
                .uri("/fair/leaver")
                .send(Flux.just(Unpooled.wrappedBuffer(new byte[bytes])))
                .response()
                .subscribe();
        gateway.awaitWaiting("pool", 1);
        leaver.dispose();
        gateway.awaitWaiting("pool", 0);
        mayEnd.countDown();
        RunningGateway.eventually(() -> assertThat(running.isDisposed()).isTrue());
        assertThat(upstream.requests()).hasSize(1);
    }

    /** A client that waits for 100 (Continue) has sent no body yet, so nothing reads from its stream. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_broken_stream_frees_its_place_and_is_never_forwarded(boolean expectsContinue) throws IOException {
        CountDownLatch mayEnd = new CountDownLatch(1);
        upstream.on("/fair/first", exchange -> {
            exchange.await(mayEnd);
            exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 60s"));
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            RawHttp2Client.Stream first = client.get("/fair/first", "a");
            gateway.awaitInFlight("pool", 1);
            Http2Headers head =
                    RawHttp2Client.request("POST", "/fair/broken", "a").add("content-length", "5");
            if (expectsContinue) {
                head.add("expect", "100-continue");
            }
            RawHttp2Client.Stream broken = client.open(head, false);
            gateway.awaitWaiting("pool", 1);
            client.headers(head, false);
            gateway.awaitWaiting("pool", 0);
            assertThat(broken.status()).isEqualTo("400");
            mayEnd.countDown();
            assertThat(first.body()).isEqualTo("first");
        }
        assertThat(upstream.requests()).hasSize(1);
    }
}
