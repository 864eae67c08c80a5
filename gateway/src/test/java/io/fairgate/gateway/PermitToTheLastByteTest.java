package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The permit is held until the last byte of the answer is written, also of a slow answer. */
class PermitToTheLastByteTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private void startWithOnePermit() {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s"));
    }

    @Test
    void a_streamed_body_keeps_its_permit_and_the_next_request_waits_until_it_has_ended() throws Exception {
        CountDownLatch lastEvent = new CountDownLatch(1);
        upstream.on("/fair/events", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "8\r\ndata: 1\n\r\n");
            exchange.await(lastEvent);
            exchange.sendLast("8\r\ndata: 2\n\r\n0\r\n\r\n");
        });
        startWithOnePermit();
        try (RawClient stream = new RawClient(gateway.port());
                RawClient second = new RawClient(gateway.port())) {
            stream.get("/fair/events", "a").readUntil("data: 1");
            second.get("/fair/second", "b");
            gateway.awaitWaiting("pool", 1);
            assertThat(upstream.requests()).hasSize(1);
            lastEvent.countDown();
            stream.readUntil("data: 2");
            assertThat(second.readUntil("ok")).contains("200 OK").contains("Server-Timing: fairgate;dur=");
        }
        assertThat(upstream.highestConcurrency()).isOne();
    }
}
