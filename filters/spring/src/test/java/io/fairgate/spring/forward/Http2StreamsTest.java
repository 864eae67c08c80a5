package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.client.HttpClient;

/** Bodies of clients that speak HTTP/2: they pass in parts, and no faster than the slower side reads. */
class Http2StreamsTest {

    /** Long enough for a large body on a busy machine. */
    private static final Duration TRANSFER = Duration.ofMinutes(3);

    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream()).route("plain", "Path=/**");

    private static HttpClient client(Way way, Map<String, String> fields) {
        return Http2Exchange.client(gateways.port(way), fields);
    }

    /** The upstream sends each part only when the client has got the one before it. */
    @ParameterizedTest
    @EnumSource
    void parts_of_a_response_arrive_one_by_one(Way way) {
        for (String type : List.of("text/event-stream", "application/json")) {
            Semaphore got = new Semaphore(0);
            gateways.upstream().answerWith(request -> {
                String head = "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nTransfer-Encoding: chunked\r\n\r\n";
                for (int i = 0; i < 3; i++) {
                    request.send((i == 0 ? head : "") + "8\r\ndata: " + i + "\n\r\n");
                    Patience.acquire(got);
                }
                request.send("0\r\n\r\n");
            });
            List<String> parts = client(way, Map.of())
                    .get()
                    .uri("/x")
                    .responseContent()
                    .asString()
                    .doOnNext(part -> got.release())
                    .collectList()
                    .block(Patience.LIMIT);
            assertThat(parts).as(type).containsExactly("data: 0\n", "data: 1\n", "data: 2\n");
        }
    }

    /** The client sends each part only when the upstream has got the one before it. */
    @ParameterizedTest
    @EnumSource
    void parts_of_a_request_arrive_one_by_one(Way way) {
        Semaphore got = new Semaphore(0);
        gateways.upstream().answerWith(request -> {
            got.release();
            while (!request.chunk().isEmpty()) {
                got.release();
            }
            request.send(OK);
        });
        Flux<ByteBuf> parts = Flux.range(0, 3)
                .concatMap(i -> Mono.fromCallable(() -> {
                            Patience.acquire(got);
                            return Unpooled.wrappedBuffer(new byte[] {(byte) ('a' + i)});
                        })
                        .subscribeOn(Schedulers.boundedElastic()));
        assertThat(status(way, Map.of(), parts)).isEqualTo(200);
        assertThat(gateways.upstream().text()).contains("chunk a\n", "chunk b\n", "chunk c\n");
    }

    private static int status(Way way, Map<String, String> fields, Flux<ByteBuf> body) {
        Integer status = client(way, fields)
                .post()
                .uri("/x")
                .send(body)
                .responseSingle((response, content) ->
                        content.then(Mono.just(response.status().code())))
                .block(TRANSFER);
        return status == null ? 0 : status;
    }

    @ParameterizedTest
    @EnumSource
    void a_slow_client_slows_its_upstream_down(Way way) {
        AtomicLong sent = new AtomicLong();
        CompletableFuture<Void> mayRead = new CompletableFuture<>();
        gateways.upstream().answerWith(request -> LargeBody.answer(request, sent));
        CompletableFuture<Long> received = client(way, Map.of())
                .get()
                .uri("/x")
                .responseContent()
                .map(part -> (long) part.readableBytes())
                .concatMap(size -> Mono.fromFuture(mayRead).thenReturn(size), 1)
                .reduce(0L, Long::sum)
                .toFuture();
        LargeBody.awaitPause(sent);
        mayRead.complete(null);
        assertThat(received.join()).isEqualTo(LargeBody.SIZE);
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
            request.send(OK);
        });
        Flux<ByteBuf> body = Flux.range(0, LargeBody.BLOCKS).map(i -> {
            sent.addAndGet(LargeBody.BLOCK.length);
            return Unpooled.wrappedBuffer(LargeBody.BLOCK);
        });
        Map<String, String> length = Map.of("content-length", String.valueOf(LargeBody.SIZE));
        CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> status(way, length, body));
        LargeBody.awaitPause(sent);
        read.release();
        assertThat(status.join()).isEqualTo(200);
    }
}
