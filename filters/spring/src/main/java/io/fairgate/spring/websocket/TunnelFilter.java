package io.fairgate.spring.websocket;

import io.fairgate.spring.exchange.ClientConnection;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.Objects;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Begins the tunnel of a WebSocket when the upstream has accepted the handshake and the filters of the route have seen the headers
 * of its response. The exchange lasts as long as the tunnel, so its permit is held and its charge stays open.
 */
final class TunnelFilter implements GlobalFilter, Ordered {

    private final Duration idle;

    TunnelFilter(Duration idle) {
        this.idle = idle;
    }

    /** Where responses are written. */
    @Override
    public int getOrder() {
        return NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return chain.filter(exchange)
                .then(Mono.defer(() -> tunnel(exchange)))
                .doFinally(end -> SwitchedUpstream.closeIn(exchange));
    }

    private Mono<Void> tunnel(ServerWebExchange exchange) {
        SwitchedUpstream upstream = SwitchedUpstream.in(exchange);
        if (upstream == null) {
            return Mono.empty();
        }
        return exchange.getResponse().setComplete().then(Mono.defer(() -> {
            HttpServerResponse response = ServerHttpResponseDecorator.getNativeResponse(exchange.getResponse());
            // A filter of the route may have changed the status.
            return response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)
                    ? Tunnel.between(Objects.requireNonNull(ClientConnection.of(exchange)), response, upstream, idle)
                    : Mono.empty();
        }));
    }
}
