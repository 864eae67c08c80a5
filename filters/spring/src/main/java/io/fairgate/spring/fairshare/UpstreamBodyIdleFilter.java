package io.fairgate.spring.fairshare;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_CONN_ATTR;

import io.netty.handler.timeout.ReadTimeoutHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/**
 * Limits how long an upstream may send nothing in the middle of a body. The gateway's own {@code response-timeout} ends
 * with the headers; without this filter, an upstream that stalls after them would hold its permit until
 * {@code max-hold}.
 */
final class UpstreamBodyIdleFilter implements GlobalFilter, Ordered {

    private static final String HANDLER = "fairgate.body-idle";

    private final Duration idle;

    UpstreamBodyIdleFilter(Duration idle) {
        this.idle = idle;
    }

    /**
     * Inside of the filter that writes the response: here the upstream's connection is known, and its body not yet
     * read.
     */
    @Override
    public int getOrder() {
        return NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER + 1;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return chain.filter(exchange).doOnSuccess(headersAreThere -> watch(exchange));
    }

    private void watch(ServerWebExchange exchange) {
        Connection upstream = exchange.getAttribute(CLIENT_RESPONSE_CONN_ATTR);
        // Reactor Netty removes the handler when the exchange on this connection is over.
        if (upstream != null && upstream.channel().pipeline().get(HANDLER) == null) {
            upstream.addHandlerLast(HANDLER, new ReadTimeoutHandler(idle.toNanos(), TimeUnit.NANOSECONDS));
        }
    }
}
