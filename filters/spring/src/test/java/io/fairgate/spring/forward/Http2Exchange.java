package io.fairgate.spring.forward;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/** A client that speaks HTTP/2 without TLS, by prior knowledge. */
final class Http2Exchange {

    private static final LoopResources LOOP = LoopResources.create("http2-client", 1, true);

    private Http2Exchange() {}

    /** What the client gets on a connection of its own, the same for each order of the fields. */
    static String with(int port, String method, String target, String body, Map<String, String> fields) {
        return Objects.requireNonNull(client(port, fields)
                .request(HttpMethod.valueOf(method))
                .uri(target)
                .send(body.isEmpty() ? ByteBufFlux.fromString(Mono.empty()) : ByteBufFlux.fromString(Mono.just(body)))
                .responseSingle((response, content) -> content.asString(StandardCharsets.ISO_8859_1)
                        .defaultIfEmpty("")
                        .flatMap(got -> text(response, got)))
                .onErrorResume(e -> Mono.just("failed: " + e.getMessage() + "\n"))
                .block(Patience.LIMIT));
    }

    /** For one exchange, on a connection of its own. */
    static HttpClient client(int port, Map<String, String> fields) {
        return HttpClient.create(ConnectionProvider.newConnection())
                .protocol(HttpProtocol.H2C)
                .runOn(LOOP)
                .baseUrl("http://127.0.0.1:" + port)
                .headers(headers -> {
                    headers.set("host", "client.test");
                    headers.set("x-tenant-id", "a");
                    fields.forEach(headers::set);
                });
    }

    private static Mono<String> text(HttpClientResponse response, String body) {
        return response.trailerHeaders()
                .map(Http2Exchange::text)
                .timeout(Duration.ofSeconds(5))
                .defaultIfEmpty("")
                .map(trailers -> response.status().code() + "\n" + text(response.responseHeaders()) + "  " + body + "\n"
                        + (trailers.isEmpty() ? "" : "  (trailers)\n" + trailers));
    }

    /** The fields, without those that Reactor Netty derives from frames. */
    static String text(HttpHeaders headers) {
        return headers.entries().stream()
                .map(field -> "  " + field.getKey().toLowerCase(Locale.ROOT) + ": " + field.getValue() + "\n")
                .filter(line -> !line.startsWith("  x-http2-"))
                .map(line -> line.replaceAll("(?<=fairgate;dur=)[0-9.]+", "..."))
                .sorted()
                .collect(Collectors.joining());
    }
}
