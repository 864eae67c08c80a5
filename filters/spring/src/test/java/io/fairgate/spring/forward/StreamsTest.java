package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that come in parts, and bodies that are larger than a gateway may keep in memory. */
class StreamsTest {

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream()).route("plain", "Path=/**");

    /** The upstream sends each part only when the client has got the one before it. */
    @ParameterizedTest
    @ValueSource(strings = {"text/event-stream", "application/x-ndjson", "application/json", "text/plain"})
    void parts_of_a_response_arrive_one_by_one(String type) throws Exception {
        Semaphore got = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    String head = "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nTransfer-Encoding: chunked\r\n\r\n";
                    for (int i = 0; i < 3; i++) {
                        request.send((i == 0 ? head : "") + "8\r\ndata: " + i + "\n\r\n");
                        Patience.acquire(got);
                    }
                    request.send("0\r\n\r\n");
                },
                client -> {
                    client.send(request("GET", "/x")).head();
                    for (int i = 0; i < 3; i++) {
                        client.note(Wire.latin1(client.wire().chunk()));
                        got.release();
                    }
                    client.note("the end: " + Arrays.toString(client.wire().chunk()));
                });
        assertThat(observed.client()).contains("data: 2", "the end: []");
    }

    /** The client sends each part only when the upstream has got the one before it. */
    @Test
    void parts_of_a_request_arrive_one_by_one() throws Exception {
        Semaphore got = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    got.release();
                    while (!request.chunk().isEmpty()) {
                        got.release();
                    }
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                },
                client -> {
                    client.send(request("POST", "/x", "Transfer-Encoding: chunked"));
                    for (int i = 0; i < 3; i++) {
                        Patience.acquire(got);
                        client.send("6\r\npart " + i + "\r\n");
                    }
                    Patience.acquire(got);
                    client.send("0\r\n\r\n");
                    client.response();
                });
        assertThat(observed.upstream()).contains("chunk part 1\n", "chunk part 2\n");
    }

    @ParameterizedTest
    @EnumSource
    void a_slow_client_slows_its_upstream_down(Way way) throws Exception {
        AtomicLong sent = new AtomicLong();
        gateways.upstream().answerWith(request -> LargeBody.answer(request, sent));
        try (RecordingClient client = gateways.connect(way)) {
            client.send(request("GET", "/x"));
            LargeBody.awaitPause(sent);
            client.head();
            LargeBody.requireIn(client.wire().in());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_slow_upstream_slows_its_client_down(Way way) throws Exception {
        AtomicLong sent = new AtomicLong();
        Semaphore read = new Semaphore(0);
        gateways.upstream().answerWith(request -> {
            Patience.acquire(read);
            LargeBody.requireIn(request.wire().in());
            request.bodyWasRead();
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
        try (RecordingClient client = gateways.connect(way)) {
            client.send(request("POST", "/x", "Content-Length: " + LargeBody.SIZE));
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < LargeBody.BLOCKS; i++) {
                        client.wire().send(LargeBody.BLOCK);
                        sent.addAndGet(LargeBody.BLOCK.length);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            LargeBody.awaitPause(sent);
            read.release();
            sending.join();
            client.response();
            assertThat(client.text()).contains("200 OK");
        }
    }
}
