package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.OwnLoop;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Requests as gRPC sends them: HTTP/2 on both sides, and trailers. */
class GrpcTest {

    private static final Queue<String> RECEIVED = new ConcurrentLinkedQueue<>();

    private static final DisposableServer UPSTREAM =
            OwnLoop.server().protocol(HttpProtocol.H2C).handle(GrpcTest::answer).bindNow();

    @Configuration(proxyBeanMethods = false)
    static class Http2ToUpstreams {
        @Bean
        HttpClientCustomizer http2() {
            return client -> client.protocol(HttpProtocol.H2C);
        }
    }

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream(), Http2ToUpstreams.class)
            .routeTo("http://127.0.0.1:" + UPSTREAM.port(), "grpc", List.of("Path=/**"), List.of("FairShare=pool"));

    @AfterAll
    static void close() {
        UPSTREAM.disposeNow();
    }

    private static Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        if (request.uri().equals("/service/stream")) {
            return response.header("content-type", "application/grpc")
                    .header("trailer", "grpc-status")
                    .trailerHeaders(trailers -> trailers.set("grpc-status", "0"))
                    .sendString(request.receive().asString().map("reply to "::concat));
        }
        String head = request.method() + " " + request.uri() + "\n" + Http2Exchange.text(request.requestHeaders());
        return request.receive()
                .aggregate()
                .asString(StandardCharsets.ISO_8859_1)
                .defaultIfEmpty("")
                .flatMap(body -> {
                    RECEIVED.add(head + "  " + body);
                    response.header("content-type", "application/grpc");
                    if (request.uri().contains("refused")) {
                        response.header("grpc-status", "7").header("grpc-message", "no");
                        return response.send().then();
                    }
                    response.header("trailer", "grpc-status, grpc-message");
                    response.trailerHeaders(
                            trailers -> trailers.set("grpc-status", "0").set("grpc-message", "done"));
                    return response.sendString(Mono.just("reply to " + body)).then();
                });
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /service/method, application/grpc, reply to hello",
        "POST, /service/method, application/grpc+proto, reply to hello",
        "POST, /service/refused, application/grpc, grpc-status: 7",
        "POST, /service/method, text/plain, reply to hello",
        "GET, /plain, '', reply to"
    })
    void a_request_over_http2_on_both_sides(String method, String path, String type, String seen) {
        String chain = exchange(Way.FILTER_CHAIN, method, path, type);
        assertThat(exchange(Way.DIRECT, method, path, type)).isEqualTo(chain);
        assertThat(chain).contains(method + " " + path, "x-account: a", seen);
        if (type.contains("grpc")) {
            assertThat(chain).contains("te: trailers", "grpc-status: ");
        }
    }

    private static String exchange(Way way, String method, String path, String type) {
        RECEIVED.clear();
        Map<String, String> fields = type.isEmpty() ? Map.of() : Map.of("content-type", type, "te", "trailers");
        String body = method.equals("POST") ? "hello" : "";
        String client = Http2Exchange.with(gateways.port(way), method, path, body, fields);
        return RECEIVED + "\n" + client;
    }

    /** The client sends each message only when it has got the reply to the one before it. */
    @ParameterizedTest
    @CsvSource({"DIRECT, text/plain", "DIRECT, application/grpc", "FILTER_CHAIN, application/grpc"})
    void messages_of_a_stream_and_their_replies_pass_one_by_one(Way way, String type) {
        Sinks.Many<String> messages = Sinks.many().unicast().onBackpressureBuffer();
        messages.tryEmitNext("0").orThrow();
        List<String> got = Http2Exchange.client(gateways.port(way), Map.of("content-type", type, "te", "trailers"))
                .post()
                .uri("/service/stream")
                .send(ByteBufFlux.fromString(messages.asFlux()))
                .response((response, content) -> content.asString()
                        .doOnNext(reply -> sendNext(messages, reply))
                        .concatWith(response.trailerHeaders().map(Http2Exchange::text)))
                .collectList()
                .block(Patience.LIMIT);
        assertThat(got).containsExactly("reply to 0", "reply to 1", "reply to 2", "  grpc-status: 0\n");
    }

    private static void sendNext(Sinks.Many<String> messages, String reply) {
        int number = Integer.parseInt(reply.substring("reply to ".length()));
        if (number < 2) {
            messages.tryEmitNext(String.valueOf(number + 1)).orThrow();
        } else {
            messages.tryEmitComplete().orThrow();
        }
    }
}
