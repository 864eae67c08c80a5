package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.Carried;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;
import reactor.netty.http.client.HttpClientResponse;

/**
 * What a request took, as far as that is known by now: whether anything of it was sent upstream, and the cost that the
 * response gave. The gateway's HTTP client reports both, for HTTP and WebSockets alike: when the request is over, the
 * exchange may not hold the upstream's response any more, because a filter of the route or a refusal has removed it.
 *
 * <p>A request may bypass that client: it is forwarded within the application, or sent by a client that the application
 * brings itself. Nothing is reported about such a request, so it counts as sent when it completes.
 */
final class UpstreamWork {

    /** Reports each request of the gateway's HTTP client to its {@code UpstreamWork}. */
    static final HttpClientCustomizer NOTED = UpstreamWork::note;

    private final long estimate;
    private final @Nullable ResponseCost cost;
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean isSent;
    private volatile @Nullable Long unitsInResponse;
    private volatile boolean isWhole;

    /**
     * @param estimate the units that were charged
     * @param cost how the response gives the cost; null when the estimate is the cost
     */
    UpstreamWork(long estimate, @Nullable ResponseCost cost) {
        this.estimate = estimate;
        this.cost = cost;
    }

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> report(request, (work, sent) -> work.send()))
                .doOnResponse((response, connection) -> report(response, UpstreamWork::answer));
    }

    private static <T extends HttpClientInfos> void report(T exchange, BiConsumer<UpstreamWork, T> event) {
        UpstreamWork work = Carried.find(exchange.currentContextView(), UpstreamWork.class);
        if (work != null) {
            event.accept(work, exchange);
        }
    }

    /** For each attempt. The client does not get the response of an earlier one, so its cost does not count. */
    private void send() {
        isSent = true;
        unitsInResponse = null;
    }

    private void answer(HttpClientResponse response) {
        if (cost instanceof ResponseCost.Field field) {
            unitsInResponse = field.units(response.responseHeaders().getAll(field.name()));
        }
    }

    /**
     * The exchange whose response counts the bytes of its body, if they are the cost. It also notes that the body was
     * written to its end. The end of the exchange does not show that: it may complete even though the client has left.
     */
    ServerWebExchange counted(ServerWebExchange exchange) {
        if (!(cost instanceof ResponseCost.Bytes)) {
            return exchange;
        }
        return exchange.mutate()
                .response(new ServerHttpResponseDecorator(exchange.getResponse()) {
                    @Override
                    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
                        return super.writeWith(counted(body).doOnComplete(() -> isWhole = true));
                    }

                    @Override
                    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
                        return super.writeAndFlushWith(
                                Flux.from(body).map(part -> counted(part)).doOnComplete(() -> isWhole = true));
                    }
                })
                .build();
    }

    private Flux<? extends DataBuffer> counted(Publisher<? extends DataBuffer> body) {
        return Flux.from(body).doOnNext(buffer -> bytes.addAndGet(buffer.readableByteCount()));
    }

    /**
     * The units that the request took; 0 when nothing was sent. When the body was not written to its end, at least the
     * estimate, because the upstream has done that much work or more.
     */
    long units(ServerWebExchange exchange, SignalType end) {
        if (!isSent && !mayBeSent(exchange, end)) {
            return 0;
        }
        if (cost instanceof ResponseCost.Bytes bodies) {
            long counted = bodies.units(bytes.get());
            return isWhole ? counted : Math.max(estimate, counted);
        }
        Long number = unitsInResponse;
        return number == null ? estimate : number;
    }

    /**
     * Whether the upstream may have got the request although the gateway's client did not report it: it is complete, or
     * was forwarded within the application, which may also answer for an upstream that could not be reached.
     */
    private static boolean mayBeSent(ServerWebExchange exchange, SignalType end) {
        URI to = exchange.getAttribute(ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR);
        return end == SignalType.ON_COMPLETE || (to != null && "forward".equals(to.getScheme()));
    }
}
