package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** While the pool is full, clients that read nothing do not keep their permits, and those that read slowly but steadily do. */
@Tag("long")
class SlowReaderTest {

    private static final int LARGE = 32 << 20;

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 6, max-wait: 60s, max-hold: 5m"),
                "--fairgate.upstream-body-idle=5m");
        String body = "x".repeat(LARGE);
        ScriptedUpstream.Script large =
                exchange -> exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: " + LARGE + "\r\n\r\n" + body);
        both.upstream().on("/fair/large", large).on("/plain/large", large);
    }

    private static RawClient http1() throws IOException {
        return RawClient.withSmallBuffer(both.gateway().port());
    }

    /** Allows so many bytes of each body at first. */
    private static RawHttp2Client http2(int window) throws IOException {
        RawHttp2Client client = new RawHttp2Client(both.gateway().port());
        client.allowAtFirst(window);
        return client;
    }

    /** Has used up what it allows for its whole connection, and makes the gateway send other things. */
    private static RawHttp2Client.Stream withoutConnectionWindow(RawHttp2Client client) throws IOException {
        client.get("/plain/large", "a").awaitText(Http2CodecUtil.DEFAULT_WINDOW_SIZE);
        RawHttp2Client.Stream stream = client.get("/fair/x", "a");
        assertThat(stream.status()).isEqualTo("200");
        return stream;
    }

    private static double slowReaders() {
        return MetricsPage.of(both.gateway())
                .value("fairgate_failures_total", "pool", "pool", "tenant", "a", "reason", "slow-reader");
    }

    @Test
    void clients_that_read_nothing_lose_their_permits() throws Exception {
        double before = slowReaders();
        CountDownLatch held = new CountDownLatch(4);
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            held.countDown();
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        try (RawClient slow = http1().get("/fair/large", "a");
                RawClient steady = http1().get("/fair/large", "a");
                RawHttp2Client pinging = http2(Integer.MAX_VALUE);
                RawHttp2Client client = http2(0)) {
            RawHttp2Client.Stream starved = withoutConnectionWindow(pinging);
            RawHttp2Client.Stream slowStream = client.get("/fair/x", "a");
            assertThat(slowStream.status()).isEqualTo("200");
            RawHttp2Client.Stream steadyStream = client.get("/fair/large", "a");
            assertThat(steadyStream.status()).isEqualTo("200");
            // It may send some bytes, and nothing after that.
            RawHttp2Client.Stream late = client.get("/fair/large", "a");
            assertThat(late.status()).isEqualTo("200");
            client.allow(5, 4_000);
            both.gateway().awaitInFlight("pool", 6);

            List<CompletableFuture<Answer>> others = Stream.generate(
                            () -> CompletableFuture.supplyAsync(() -> both.ask("/fair/held", "X-Tenant-Id", "b")))
                    .limit(4)
                    .toList();
            for (int second = 0; held.getCount() > 0; second++) {
                assertThat(second).isLessThan(30);
                steady.read(2_000);
                client.allow(3, 1_000);
                for (int ping = 0; ping < 40; ping++) {
                    pinging.trySend(Http2FrameTypes.PING, 0, new byte[8]);
                }
                Thread.sleep(1_000);
            }
            end.countDown();
            for (CompletableFuture<Answer> other : others) {
                assertThat(other.get().status()).isEqualTo(200);
            }
            assertThat(slowStream.reset()).isEqualTo(Http2Error.CANCEL);
            assertThat(starved.reset()).isEqualTo(Http2Error.CANCEL);
            assertThat(late.reset()).isEqualTo(Http2Error.CANCEL);
            assertThat(slow.readToEnd()).isLessThan(1 << 20);
            assertThat(slowReaders() - before).isEqualTo(4);
            both.gateway().awaitInFlight("pool", 2);

            client.allow(0, LARGE);
            client.allow(3, LARGE);
            assertThat(steadyStream.body()).hasSize(LARGE);
            steady.read(LARGE - 100_000);
        }
        both.gateway().awaitInFlight("pool", 0);
    }
}
