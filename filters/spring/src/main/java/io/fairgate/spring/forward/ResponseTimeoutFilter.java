package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.RouteTimeouts;
import io.fairgate.spring.refusal.RouteMeters;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.RouteMetadataUtils;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClientResponse;

/**
 * Has the response time-out of a request begin again with each part of its body, as {@link DirectRoute} does, when the request passes
 * Spring Cloud Gateway's chain of filters. {@code NettyRoutingFilter}, the last one, begins it with the request, so it finds a route
 * without one. It also counts the response, as {@link UpstreamCall} does.
 */
record ResponseTimeoutFilter(HttpClientProperties properties, RouteMeters meters) implements GlobalFilter, Ordered {

    /** A part of the body was passed on. */
    private static final class Call implements UpstreamAnswer.Call {

        private volatile @Nullable UpstreamAnswer answer;

        @Override
        public void awaits(UpstreamAnswer answer) {
            this.answer = answer;
        }

        void sends() {
            UpstreamAnswer awaited = answer;
            if (awaited != null) {
                awaited.begunAgain();
            }
        }
    }

    /** Inside of all filters that may try again, or change the body. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE - 3;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return answer(exchange, chain).doOnSuccess(headers -> count(exchange));
    }

    private void count(ServerWebExchange exchange) {
        HttpClientResponse response = exchange.getAttribute(CLIENT_RESPONSE_ATTR);
        if (response != null) { // A WebSocket has none.
            meters.responded(exchange, response.status().code());
        }
    }

    private Mono<Void> answer(ServerWebExchange exchange, GatewayFilterChain chain) {
        Connection client = ClientConnection.of(exchange);
        Route route = exchange.getRequiredAttribute(GATEWAY_ROUTE_ATTR);
        Duration most = Exchanges.isPaced(exchange) && isHttp(exchange) ? timeout(route) : null;
        if (client == null || most == null) {
            return chain.filter(exchange);
        }
        Call call = new Call();
        ServerWebExchange noted =
                exchange.mutate().request(noted(exchange.getRequest(), call)).build();
        // NettyRoutingFilter reads the route while it is subscribed to. After that, filters that try again need it as
        // it was.
        Publisher<Void> answered = subscriber -> {
            exchange.getAttributes().put(GATEWAY_ROUTE_ATTR, withoutTimeout(route));
            try {
                chain.filter(noted).subscribe(subscriber);
            } finally {
                exchange.getAttributes().put(GATEWAY_ROUTE_ATTR, route);
            }
        };
        return UpstreamAnswer.to(answered, client, Math.max(1, most.toNanos()), call)
                .onErrorMap(TimeoutException.class, late -> timedOut(most));
    }

    /** As {@code NettyRoutingFilter} says it, so that {@code Retry} takes it for the same. */
    private static Throwable timedOut(Duration most) {
        String message = "Response took longer than timeout: " + most;
        return new ResponseStatusException(
                HttpStatus.GATEWAY_TIMEOUT,
                message,
                new org.springframework.cloud.gateway.support.TimeoutException(message));
    }

    /** Null for none, and for one that cannot be read, which Spring Cloud Gateway ignores. */
    private @Nullable Duration timeout(Route route) {
        try {
            return RouteTimeouts.response(route, properties);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static boolean isHttp(ServerWebExchange exchange) {
        URI to = exchange.getRequiredAttribute(GATEWAY_REQUEST_URL_ATTR);
        return "http".equalsIgnoreCase(to.getScheme()) || "https".equalsIgnoreCase(to.getScheme());
    }

    private static ServerHttpRequest noted(ServerHttpRequest request, Call call) {
        return new ServerHttpRequestDecorator(request) {
            @Override
            public Flux<DataBuffer> getBody() {
                return super.getBody().doOnNext(part -> call.sends()).doOnComplete(call::sends);
            }
        };
    }

    private static Route withoutTimeout(Route route) {
        Map<String, Object> metadata = new HashMap<>(route.getMetadata());
        metadata.put(RouteMetadataUtils.RESPONSE_TIMEOUT_ATTR, -1);
        return Route.async()
                .id(route.getId())
                .uri(route.getUri())
                .order(route.getOrder())
                .asyncPredicate(route.getPredicate())
                .replaceFilters(route.getFilters())
                .metadata(metadata)
                .build();
    }
}
