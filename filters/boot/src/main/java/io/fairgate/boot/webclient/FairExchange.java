package io.fairgate.boot.webclient;

import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.tenant.TenantId;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/**
 * A filter of WebClient: each exchange waits for permits of a pool, and holds them until the last byte of the response body.
 *
 * <pre>{@code
 * WebClient orders = WebClient.builder()
 *         .baseUrl("https://orders.example.com")
 *         .filter(FairExchange.of(pool))
 *         .build();
 * Mono<Order> order = orders.get().uri("/orders/7").retrieve().bodyToMono(Order.class)
 *         .contextWrite(c -> c.put(PermitPool.TENANT, TenantId.of("acme")));
 * }</pre>
 *
 * <p>The exchange errors with {@link PermitRefusedException} when the pool refuses it; nothing is sent then. After the maximum hold, the
 * exchange or the body errors with {@link HoldExpiredException}; {@code retrieve} makes an error of the body the cause of a
 * {@code WebClientResponseException}. Cancelling the exchange while it waits frees its place in the queue. Cancelling it, or its body, later,
 * and the end of the hold, close the connection and give the permits back. Java's HttpClient as the connector ({@code
 * JdkClientHttpConnector}) may go on to read instead of closing.
 *
 * <p>The body must be consumed, or released ({@link ClientResponse#releaseBody}), as WebClient demands in any case. {@code retrieve},
 * {@code exchangeToMono} and {@code exchangeToFlux} do so, except for a body that is handed out as a publisher ({@code toEntityFlux}) and is
 * never subscribed to. Its permits come back after the maximum hold.
 *
 * <p>A filter that is added before this one is outside of it: a retry there waits anew for each attempt.
 */
public final class FairExchange implements ExchangeFilterFunction {

    private final PermitPool pool;
    private final Function<? super ClientRequest, Mono<PermitRequest>> permits;

    private FairExchange(PermitPool pool, Function<? super ClientRequest, Mono<PermitRequest>> permits) {
        this.pool = pool;
        this.permits = permits;
    }

    /**
     * One permit for the tenant that the subscriber's context names under {@link PermitPool#TENANT}. An exchange without a tenant errors
     * with {@link IllegalStateException}.
     */
    public static FairExchange of(PermitPool pool) {
        return new FairExchange(
                pool,
                request -> Mono.deferContextual(
                        context -> Mono.just(
                                PermitRequest.of(
                                        context.<TenantId>getOrEmpty(PermitPool.TENANT)
                                                .orElseThrow(
                                                        () -> new IllegalStateException(
                                                                "no tenant in the context (expected: .contextWrite(c -> c.put(PermitPool.TENANT, tenantId)))"))))));
    }

    /**
     * The permits that a function asks for.
     *
     * @param permits which permits an exchange needs, and of which tenant; must not block
     */
    public static FairExchange of(PermitPool pool, Function<? super ClientRequest, PermitRequest> permits) {
        return new FairExchange(
                pool,
                request -> Mono.fromSupplier(
                        () -> Objects.requireNonNull(permits.apply(request), "the permits of an exchange are null")));
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return permits.apply(request)
                .flatMap(permit -> HeldExchange.of(pool, permit, Mono.defer(() -> next.exchange(request))));
    }
}
