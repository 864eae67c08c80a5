package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_CONN_ATTR;

import io.fairgate.spring.OwnLoop;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The connection of a response, as the filters of a route get it, and one connection for all requests. */
class ResponseConnectionFilterTest {

    private static final Duration LONGEST = Duration.ofSeconds(20);

    private final DisposableServer upstream = OwnLoop.server()
            .route(routes -> routes.get("/", (request, response) -> response.sendString(Mono.just("ok")))
                    .get(
                            "/endless",
                            (request, response) -> response.sendHeaders().then(Mono.never())))
            .bindNow();
    private final ConnectionProvider connections = ConnectionProvider.create("one", 1);
    private final ServerWebExchange received = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
    private final ServerWebExchange exchange = seenByFilters();

    @AfterEach
    void stop() {
        connections.disposeLater().block(LONGEST);
        upstream.disposeNow();
    }

    private ServerWebExchange seenByFilters() {
        AtomicReference<ServerWebExchange> seen = new AtomicReference<>();
        new ResponseConnectionFilter()
                .filter(received, passedOn -> Mono.fromRunnable(() -> seen.set(passedOn)))
                .block(LONGEST);
        return Objects.requireNonNull(seen.get());
    }

    private Connection responseConnection() {
        return exchange.getRequiredAttribute(CLIENT_RESPONSE_CONN_ATTR);
    }

    /** As Spring Cloud Gateway's routing filter does it. */
    private Mono<String> get(HttpClient client) {
        return client.get()
                .uri("http://127.0.0.1:" + upstream.port() + "/")
                .responseConnection((response, connection) -> {
                    exchange.getAttributes().put(CLIENT_RESPONSE_CONN_ATTR, connection);
                    return responseConnection().inbound().receive().aggregate().asString();
                })
                .single();
    }

    private static void onAnotherThread(Runnable task) {
        AtomicBoolean done = new AtomicBoolean();
        Thread other = new Thread(() -> {
            task.run();
            done.set(true);
        });
        other.setDaemon(true);
        other.start();
        long turns = 0;
        while (!done.get()) {
            turns++; // not a wait that BlockHound would refuse on an event loop
        }
        assertThat(turns).isNotNegative();
    }

    @Test
    void a_late_disposal_leaves_the_next_request_on_the_connection_alone() {
        AtomicBoolean isNext = new AtomicBoolean();
        HttpClient client = HttpClient.create(connections).doOnRequest((request, connection) -> {
            if (isNext.getAndSet(true)) {
                // Still inside the end of the first response, which has given its connection away.
                onAnotherThread(() -> responseConnection().dispose());
            }
        });
        List<String> both = Flux.merge(get(client), get(client)).collectList().block(LONGEST);
        assertThat(both).containsExactly("ok", "ok");
    }

    @Test
    void a_disposal_on_any_thread_closes_the_connection_of_an_incomplete_response() {
        Sinks.One<Channel> headersAreThere = Sinks.one();
        Disposable request = HttpClient.create(connections)
                .get()
                .uri("http://127.0.0.1:" + upstream.port() + "/endless")
                .responseConnection((response, incomplete) -> {
                    exchange.getAttributes().put(CLIENT_RESPONSE_CONN_ATTR, incomplete);
                    headersAreThere.tryEmitValue(incomplete.channel()).orThrow();
                    return Mono.never();
                })
                .subscribe();
        Channel channel = Objects.requireNonNull(headersAreThere.asMono().block(LONGEST));
        assertThat(channel.isActive()).isTrue();
        responseConnection().dispose();
        assertThat(channel.closeFuture().awaitUninterruptibly(LONGEST.toMillis()))
                .isTrue();
        request.dispose();
    }

    @Test
    void other_attributes_are_those_of_the_exchange() {
        Map<String, Object> attributes = exchange.getAttributes();
        attributes.put("a", 1);
        assertThat(received.getAttributes()).containsEntry("a", 1);
        assertThat(attributes.remove("a", 2)).isFalse();
        assertThat(attributes.remove("a", 1)).isTrue();
        assertThat(attributes.putIfAbsent("b", 3)).isNull();
        assertThat(attributes.computeIfAbsent("c", name -> 4)).isEqualTo(4);
        assertThat(attributes.compute("c", (name, value) -> 5)).isEqualTo(5);
        assertThat(received.getAttributes())
                .containsEntry("b", 3)
                .containsEntry("c", 5)
                .doesNotContainKey("a");
        assertThat(attributes).isEqualTo(received.getAttributes());
    }
}
