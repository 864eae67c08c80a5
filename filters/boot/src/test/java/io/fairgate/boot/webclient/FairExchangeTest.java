package io.fairgate.boot.webclient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Exchanges of a WebClient with a server on loopback. The time of the pool is virtual. */
class FairExchangeTest {

    private static final LoopResources LOOP = LoopResources.create("upstream", 1, true);
    private static final Duration HOLD = Duration.ofSeconds(5);

    private final TestTime time = new TestTime();
    private final EmbeddedPermitPool pool = new EmbeddedPermitPool(
            "pool",
            PoolSettings.ofPermits(1).withMaxHold(HOLD).withMaxWait(Duration.ofSeconds(1)),
            TenantShares.EQUAL,
            time,
            PoolListener.NONE);

    private final Sinks.Empty<Void> end = Sinks.empty();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();
    private final AtomicInteger serving = new AtomicInteger();

    /** {@code /ok} answers at once, {@code /half} sends one half of the body and waits for {@link #end}, {@code /silent} sends nothing. */
    private final DisposableServer server = HttpServer.create()
            .runOn(LOOP)
            .host("127.0.0.1")
            .port(0)
            .doOnConnection(connection -> connection.onDispose(closed::incrementAndGet))
            .handle((request, response) -> {
                requests.incrementAndGet();
                return switch (request.uri()) {
                    case "/half" ->
                        response.sendString(
                                Flux.concat(Mono.just("first"), end.asMono().then(Mono.just("second")))
                                        .doOnSubscribe(begun -> serving.incrementAndGet())
                                        .doFinally(signal -> serving.decrementAndGet()));
                    case "/silent" -> Mono.never();
                    default -> response.sendString(Mono.just("ok"));
                };
            })
            .bindNow();

    private final WebClient client = client(FairExchange.of(pool, request -> PermitRequest.of("acme")));

    private WebClient client(FairExchange fair) {
        return WebClient.builder()
                .baseUrl("http://127.0.0.1:" + server.port())
                .filter(fair)
                .build();
    }

    @AfterEach
    void nothingIsLeft() {
        end.tryEmitEmpty();
        awaitInFlight(0);
        assertThat(NothingLeft.statusOf(pool).waiting()).isZero();
        server.disposeNow(Duration.ofSeconds(30));
    }

    private void awaitInFlight(int count) {
        Awaitility.await().until(() -> NothingLeft.statusOf(pool).inFlight() == count);
    }

    private Mono<String> get(String path) {
        return client.get().uri(path).retrieve().bodyToMono(String.class);
    }

    /** A body that is read as it comes. */
    private Flux<String> parts(String path) {
        return client.get().uri(path).exchangeToFlux(response -> response.bodyToFlux(String.class));
    }

    /** An exchange that has got the first half of the body. */
    private Disposable begunHalf(AtomicReference<@Nullable Throwable> failure) {
        Sinks.Empty<Void> first = Sinks.empty();
        Disposable reading = client.get()
                .uri("/half")
                .exchangeToFlux(response -> response.bodyToFlux(java.nio.ByteBuffer.class))
                .subscribe(part -> first.tryEmitEmpty(), failure::set);
        first.asMono().block(Duration.ofSeconds(20));
        return reading;
    }

    @Test
    void a_permit_is_held_until_the_last_byte() {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        begunHalf(failure);
        awaitInFlight(1);
        Mono<String> second = get("/ok").cache();
        Disposable waiting = second.subscribe();
        Awaitility.await().until(() -> NothingLeft.statusOf(pool).waiting() == 1);
        assertThat(requests).hasValue(1);
        end.tryEmitEmpty();
        assertThat(second.block(Duration.ofSeconds(20))).isEqualTo("ok");
        assertThat(waiting.isDisposed()).isTrue();
        assertThat(failure.get()).isNull();
    }

    @Test
    void the_ways_to_use_a_response_give_the_permit_back() {
        assertThat(get("/ok").block()).isEqualTo("ok");
        awaitInFlight(0);
        assertThat(Objects.requireNonNull(client.get()
                                .uri("/ok")
                                .retrieve()
                                .toBodilessEntity()
                                .block())
                        .getStatusCode())
                .isEqualTo(HttpStatus.OK);
        awaitInFlight(0);
        assertThat(client.head()
                        .uri("/ok")
                        .exchangeToMono(response -> Mono.just(1))
                        .block())
                .isOne();
        awaitInFlight(0);
        assertThat(parts("/ok").collectList().block()).isEqualTo(List.of("ok"));
        assertThatThrownBy(() -> client.get()
                        .uri("/ok")
                        .exchangeToMono(response -> Mono.error(new IllegalStateException("no")))
                        .block())
                .hasMessage("no");
        awaitInFlight(0);
        ClientResponse released =
                client.get().uri("/ok").exchangeToMono(Mono::just).block();
        assertThat(released).isNotNull();
    }

    @Test
    void the_permit_is_free_when_the_caller_learns_of_the_end() {
        EmbeddedPermitPool noQueue = new EmbeddedPermitPool(
                "no queue", PoolSettings.ofPermits(1).withMaxWaiting(0), TenantShares.EQUAL, time, PoolListener.NONE);
        WebClient sequential = client(FairExchange.of(noQueue, request -> PermitRequest.of("acme")));
        Mono<String> one = sequential.get().uri("/ok").retrieve().bodyToMono(String.class);
        for (int i = 0; i < 50; i++) {
            assertThat(one.block()).isEqualTo("ok");
        }
        assertThat(one.flatMap(first -> one).block()).isEqualTo("ok");
        Mono<?> bodiless = sequential.get().uri("/ok").retrieve().toBodilessEntity();
        assertThat(bodiless.then(one).block()).isEqualTo("ok");
        Mono<String> failing = one.map(body -> {
            throw new IllegalStateException("no");
        });
        assertThat(failing.onErrorResume(e -> one).block()).isEqualTo("ok");
    }

    /** A filter outside that makes an error of a response, and a handler that cancels while it gets the response. */
    @Test
    void a_response_that_is_left_within_its_own_signal_is_closed() {
        WebClient strict = client(FairExchange.of(pool, request -> PermitRequest.of("acme")))
                .mutate()
                .filters(filters -> filters.add(
                        0,
                        (request, next) -> next.exchange(request)
                                .flatMap(response -> Mono.error(new IllegalStateException("not wanted")))))
                .build();
        assertThatThrownBy(() -> strict.get()
                        .uri("/half")
                        .retrieve()
                        .bodyToMono(String.class)
                        .block())
                .hasMessage("not wanted");
        Disposable.Swap leaving = Disposables.swap();
        leaving.update(client.get()
                .uri("/half")
                .exchangeToMono(response -> {
                    leaving.dispose();
                    return Mono.never();
                })
                .subscribe());
        Awaitility.await().until(() -> requests.get() == 2);
        Awaitility.await().untilAsserted(() -> assertThat(serving).hasValue(0));
        awaitInFlight(0);
    }

    @Test
    void with_retrieve_the_end_of_the_hold_is_the_cause() {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        get("/half").subscribe(body -> {}, failure::set);
        Awaitility.await().until(() -> serving.get() == 1);
        time.advanceBy(HOLD);
        Awaitility.await().until(() -> failure.get() != null);
        assertThat(NestedExceptionUtils.getMostSpecificCause(Objects.requireNonNull(failure.get())))
                .isInstanceOf(HoldExpiredException.class);
        Awaitility.await().untilAsserted(() -> assertThat(serving).hasValue(0));
    }

    @Test
    void a_response_that_comes_after_the_hold_is_released() {
        AtomicInteger released = new AtomicInteger();
        AtomicReference<CoreSubscriber<? super ClientResponse>> exchange = new AtomicReference<>();
        ExchangeFunction ignoringCancel = request -> new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super ClientResponse> subscriber) {
                exchange.set(subscriber);
                subscriber.onSubscribe(Operators.emptySubscription());
            }
        };
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        FairExchange.of(pool, request -> PermitRequest.of("acme"))
                .filter(ClientRequest.create(HttpMethod.GET, URI.create("/")).build(), ignoringCancel)
                .subscribe(response -> {}, failure::set);
        time.advanceBy(HOLD);
        assertThat(failure.get()).isInstanceOf(HoldExpiredException.class);
        Objects.requireNonNull(exchange.get())
                .onNext(ClientResponse.create(HttpStatus.OK)
                        .body(Flux.<DataBuffer>never().doOnCancel(released::incrementAndGet))
                        .build());
        assertThat(released).hasValue(1);
    }

    @Test
    void only_the_first_reader_ends_the_hold() {
        Sinks.Empty<Void> first = Sinks.empty();
        AtomicReference<@Nullable Throwable> second = new AtomicReference<>();
        Disposable reading = client.get()
                .uri("/half")
                .exchangeToFlux(response -> {
                    Flux<DataBuffer> body =
                            response.bodyToFlux(DataBuffer.class).doOnNext(DataBufferUtils::release);
                    return body.doOnNext(part -> {
                        first.tryEmitEmpty();
                        body.subscribe(again -> {}, second::set);
                    });
                })
                .subscribe();
        first.asMono().block(Duration.ofSeconds(20));
        Awaitility.await().until(() -> second.get() != null);
        assertThat(NothingLeft.statusOf(pool).inFlight()).isOne();
        reading.dispose();
    }

    @Test
    void a_refused_exchange_sends_nothing() {
        Disposable reading = begunHalf(new AtomicReference<>());
        AtomicReference<@Nullable Throwable> refused = new AtomicReference<>();
        get("/ok").subscribe(body -> {}, refused::set);
        Awaitility.await().until(() -> NothingLeft.statusOf(pool).waiting() == 1);
        time.advanceBy(Duration.ofSeconds(1));
        Awaitility.await().until(() -> refused.get() != null);
        assertThat(refused.get())
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        why -> assertThat(why.reason()).isEqualTo(RefusalReason.MAX_WAIT));
        assertThat(requests).hasValue(1);
        reading.dispose();
    }

    @Test
    void cancelling_frees_the_place_in_the_queue_or_closes_the_connection() {
        Disposable reading = begunHalf(new AtomicReference<>());
        Disposable waiting = get("/ok").subscribe();
        Awaitility.await().until(() -> NothingLeft.statusOf(pool).waiting() == 1);
        waiting.dispose();
        assertThat(NothingLeft.statusOf(pool).waiting()).isZero();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isOne();

        reading.dispose();
        awaitInFlight(0);
        Awaitility.await().untilAsserted(() -> assertThat(closed).hasValue(1));

        Disposable silent = get("/silent").subscribe();
        Awaitility.await().until(() -> requests.get() == 2);
        silent.dispose();
        awaitInFlight(0);
        Awaitility.await().untilAsserted(() -> assertThat(closed).hasValue(2));
    }

    @Test
    void a_response_that_is_left_without_reading_it_is_closed() {
        Sinks.Empty<Void> arrived = Sinks.empty();
        Disposable left = client.get()
                .uri("/half")
                .exchangeToMono(response -> {
                    arrived.tryEmitEmpty();
                    return Mono.never();
                })
                .subscribe();
        arrived.asMono().block(Duration.ofSeconds(20));
        assertThat(NothingLeft.statusOf(pool).inFlight()).isOne();
        left.dispose();
        awaitInFlight(0);
        Awaitility.await().untilAsserted(() -> assertThat(closed).hasValue(1));
    }

    @Test
    void after_the_maximum_hold_the_connection_is_closed_and_the_body_fails() {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        begunHalf(failure);
        time.advanceBy(HOLD);
        Awaitility.await().until(() -> failure.get() != null);
        assertThat(failure.get()).isInstanceOf(HoldExpiredException.class);
        awaitInFlight(0);
        Awaitility.await().untilAsserted(() -> assertThat(closed).hasValue(1));
    }

    @Test
    void after_the_maximum_hold_an_exchange_without_a_response_fails() {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        get("/silent").subscribe(body -> {}, failure::set);
        Awaitility.await().until(() -> requests.get() == 1);
        time.advanceBy(HOLD);
        Awaitility.await().until(() -> failure.get() != null);
        assertThat(failure.get()).isInstanceOf(HoldExpiredException.class);
        Awaitility.await().untilAsserted(() -> assertThat(closed).hasValue(1));
    }

    @Test
    void an_exchange_that_fails_gives_the_permit_back() throws IOException {
        int unused;
        try (ServerSocket socket = new ServerSocket(0)) {
            unused = socket.getLocalPort();
        }
        assertThatThrownBy(() -> get("http://127.0.0.1:" + unused + "/").block())
                .isInstanceOf(WebClientRequestException.class);
        awaitInFlight(0);
    }

    @Test
    void the_tenant_comes_from_the_context() {
        WebClient ofContext = client(FairExchange.of(pool));
        Mono<String> exchange = ofContext.get().uri("/half").retrieve().bodyToMono(String.class);
        assertThatThrownBy(exchange::block).hasMessageContaining("no tenant in the context (expected: ");
        Disposable ofGlobex = exchange.contextWrite(c -> c.put(PermitPool.TENANT, TenantId.of("globex")))
                .subscribe();
        awaitInFlight(1);
        assertThat(NothingLeft.statusOf(pool).tenants())
                .singleElement()
                .satisfies(tenant -> assertThat(tenant.tenant()).isEqualTo(TenantId.of("globex")));
        ofGlobex.dispose();
    }

    @Test
    void of_many_exchanges_some_of_which_leave_no_permit_is_lost() throws InterruptedException {
        EmbeddedPermitPool four = new EmbeddedPermitPool(
                "four", PoolSettings.ofPermits(4).withMaxWait(Duration.ofSeconds(60)), TenantShares.EQUAL);
        WebClient many = client(FairExchange.of(four, request -> PermitRequest.of("acme")));
        AtomicInteger done = new AtomicInteger();
        for (int i = 0; i < 400; i++) {
            Disposable exchange =
                    many.get().uri("/ok").retrieve().bodyToMono(String.class).subscribe(body -> done.incrementAndGet());
            if (i % 3 == 0) {
                TimeUnit.MICROSECONDS.sleep(i % 50 * 20L);
                exchange.dispose();
            }
        }
        Awaitility.await().until(() -> done.get() >= 266);
        Awaitility.await().until(() -> NothingLeft.statusOf(four).inFlight() == 0);
        assertThat(NothingLeft.statusOf(four).waiting()).isZero();
    }
}
