package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients of HTTP/2 that send more than requests need. */
class Http2FloodTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private final CountDownLatch mayAnswer = new CountDownLatch(1);

    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(20);

    @BeforeEach
    void start() {
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(mayAnswer);
            ScriptedUpstream.OK.answer(exchange);
        });
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 200, max-wait: 60s"));
    }

    @ParameterizedTest
    @CsvSource({"PING, 6, 8", "SETTINGS, 4, 0", "WINDOW_UPDATE, 8, 4", "PRIORITY, 2, 5"})
    void a_flood_ends_its_connection_and_no_other(String name, byte type, int length) throws IOException {
        byte[] payload = new byte[length];
        if (type == Http2FrameTypes.WINDOW_UPDATE) {
            payload[3] = 1;
        }
        try (RawHttp2Client other = new RawHttp2Client(both.gateway().port());
                RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
            client.get("/fair/held", "b");
            both.gateway().awaitInFlight("pool", 1);
            boolean isClosed = false;
            // A second may pass until the connection is closed, because this client does not read.
            for (long last = System.nanoTime() + MOST_NANOS; !isClosed && System.nanoTime() < last; ) {
                isClosed = !client.trySend(type, type == Http2FrameTypes.PRIORITY ? 1 : 0, payload);
            }
            assertThat(isClosed).as("closed after %s", name).isTrue();
            mayAnswer.countDown();
            assertThat(other.get("/fair/x", "a").body()).isEqualTo("ok");
        }
    }

    /** A client may send these before it has read how many streams it may open. */
    @Test
    void only_the_streams_beyond_the_bound_are_refused() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            List<RawHttp2Client.Stream> streams = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                streams.add(client.get("/fair/held", "a"));
            }
            // While the first 100 are open.
            for (RawHttp2Client.Stream stream : streams.subList(100, 500)) {
                assertThat(stream.reset()).isEqualTo(Http2Error.REFUSED_STREAM);
            }
            mayAnswer.countDown();
            for (RawHttp2Client.Stream stream : streams.subList(0, 100)) {
                assertThat(stream.body()).isEqualTo("ok");
            }
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
        }
    }
}
