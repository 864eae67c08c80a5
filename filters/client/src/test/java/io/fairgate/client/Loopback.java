package io.fairgate.client;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The model behind HTTP, at a free port of loopback, on an event loop of its own. Its time is the real one. */
final class Loopback implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final LoopResources LOOP = LoopResources.create("lease-server", 1, true);

    /** A request as it came. */
    record Received(String method, String path, Map<String, String> fields, String body) {}

    /** What comes of an answer that is ready; the usual way is to write it. */
    interface Ending {
        Publisher<Void> end(HttpServerResponse response, ApiResponse answer);
    }

    final ModelServer server;
    final List<Received> received = new CopyOnWriteArrayList<>();
    private final List<Ending> endings = new CopyOnWriteArrayList<>();
    private final DisposableServer http = HttpServer.create()
            .runOn(LOOP)
            .host("127.0.0.1")
            .port(0)
            .handle(this::handle)
            .bindNow();

    /** With pools {@code a} and {@code b} of two permits each. */
    Loopback() {
        this(Map.of("a", 2, "b", 2));
    }

    Loopback(Map<String, Integer> pools) {
        server = new ModelServer(MonotonicTime.INSTANCE, pools);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + http.port());
    }

    /** The next answers end in these ways, one each. */
    void next(Ending... ways) {
        endings.addAll(List.of(ways));
    }

    /** The server has acted, and says nothing. */
    static Ending closed() {
        return (response, answer) -> Mono.<Void>never().doOnSubscribe(any -> response.withConnection(c -> c.dispose()));
    }

    static Ending silent() {
        return (response, answer) -> Mono.never();
    }

    static Ending answering(int status, Map<String, String> fields, String body) {
        return (response, answer) -> {
            response.status(status);
            fields.forEach(response::addHeader);
            return response.sendString(Mono.just(body));
        };
    }

    private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
        return request.receive()
                .aggregate()
                .asString()
                .defaultIfEmpty("")
                .flatMap(body -> {
                    Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
                    request.requestHeaders().forEach(field -> fields.put(field.getKey(), field.getValue()));
                    Received now = new Received(request.method().name(), request.uri(), fields, body);
                    received.add(now);
                    return server.handle(call(now));
                })
                .flatMapMany(answer -> endings.isEmpty()
                        ? write(response, answer)
                        : endings.remove(0).end(response, answer))
                .then();
    }

    private static ApiRequest call(Received request) {
        Map<String, Object> body = request.body.isEmpty()
                ? null
                : JSON.readValue(request.body, new TypeReference<Map<String, Object>>() {});
        return new ApiRequest(
                request.method, request.path, request.fields.get("Idempotency-Key"), body, false, Duration.ZERO);
    }

    private static Publisher<Void> write(HttpServerResponse response, ApiResponse answer) {
        response.status(HttpResponseStatus.valueOf(answer.status()));
        return answer.status() == 204
                ? response.send()
                : response.header("Content-Type", "application/json")
                        .sendByteArray(Mono.just(JSON.writeValueAsBytes(answer.body())));
    }

    /** Waits for something to happen elsewhere. */
    static void until(BooleanSupplier happened) {
        @Nullable
        Long unused = Flux.interval(Duration.ofMillis(5))
                .takeUntil(n -> happened.getAsBoolean())
                .blockLast(Duration.ofSeconds(30));
    }

    @Override
    public void close() {
        http.disposeNow(Duration.ofSeconds(10));
    }
}
