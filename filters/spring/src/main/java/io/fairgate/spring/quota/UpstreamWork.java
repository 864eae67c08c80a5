package io.fairgate.spring.quota;

import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.SignalType;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;
import reactor.netty.http.client.HttpClientResponse;

/**
 * What a request took, as far as that is known by now: whether anything of it was sent upstream, and what the response told.
 *
 * <p>The gateway's client tells it, for HTTP and WebSockets alike. The response of the exchange does not hold any more what
 * the upstream said when all is over: a filter of the route may have taken it out for the client, and a refusal takes back
 * all of it.
 *
 * <p>A request may go another way than through that client: forwarded within the application, or through a client that the
 * application brings itself. Of that nothing is told, so it counts as sent when it ends well.
 */
final class UpstreamWork {

    /** Has every request of the gateway's client tell what becomes of it. */
    static final HttpClientCustomizer NOTED = UpstreamWork::note;

    private final RequestCost cost;
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean isSent;
    private volatile @Nullable Long told;
    private volatile boolean isWhole;

    UpstreamWork(RequestCost cost) {
        this.cost = cost;
    }

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> {
                    UpstreamWork work = of(request);
                    if (work != null) {
                        work.send();
                    }
                })
                .doOnResponse((response, connection) -> {
                    UpstreamWork work = of(response);
                    if (work != null) {
                        work.answer(response);
                    }
                });
    }

    private static @Nullable UpstreamWork of(HttpClientInfos exchange) {
        return exchange.currentContextView().getOrDefault(UpstreamWork.class, null);
    }

    /** Also when it is sent again: what a response that nobody gets has told is not the cost of the next one. */
    private void send() {
        isSent = true;
        told = null;
    }

    private void answer(HttpClientResponse response) {
        if (cost.response() instanceof ResponseCost.Field field) {
            told = field.units(response.responseHeaders().getAll(field.name()));
        }
    }

    boolean isCountedByBytes() {
        return cost.response() instanceof ResponseCost.Bytes;
    }

    void write(int more) {
        bytes.addAndGet(more);
    }

    /** The body was written to its end. How the exchange ended does not tell: when a client leaves, it may complete. */
    void end() {
        isWhole = true;
    }

    /**
     * Nothing, when nothing was sent. Of a body that was not written to its end the upstream has done as much work as was
     * estimated, or more.
     */
    long units(ServerWebExchange exchange, SignalType end) {
        if (!isSent && !mayBeSent(exchange, end)) {
            return 0;
        }
        long estimate = cost.units();
        if (cost.response() instanceof ResponseCost.Bytes bodies) {
            long counted = bodies.units(bytes.get());
            return isWhole ? counted : Math.max(estimate, counted);
        }
        Long number = told;
        return number == null ? estimate : number;
    }

    /** Whether it may be at work, or was, where the gateway's client does not tell. */
    private boolean mayBeSent(ServerWebExchange exchange, SignalType end) {
        return end == SignalType.ON_COMPLETE || isForwarded(exchange);
    }

    /** Also when that answers for an upstream that could not be reached. Such an exchange is never marked as routed. */
    private static boolean isForwarded(ServerWebExchange exchange) {
        URI to = exchange.getAttribute(ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR);
        return to != null && "forward".equals(to.getScheme());
    }
}
