package io.fairgate.spring.fairshare;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.core.io.buffer.PooledDataBuffer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Moves a body that Spring Cloud Gateway has read, to send it again on a retry, from Netty's memory to the heap.
 *
 * <p>When a request ends, Spring Cloud Gateway frees Netty's memory of such a body even if the body is still being sent
 * ({@code ServerWebExchangeUtils.clearCachedRequestBody} releases it until its reference count is 0). Netty reuses the
 * memory at once, so the upstream could get a part of another request. A later subscriber of the body gets an empty
 * body, and the upstream then waits for the announced bytes. A request that goes on without its client can meet both.
 * And if the request ends on another thread just when the body has been read, nothing frees the memory. Rejected:
 * counting the users of Netty's memory, because a part that the HTTP client drops is never given back.
 */
final class CachedBodyFilter implements GlobalFilter, Ordered {

    /** Directly behind {@code AdaptCachedBodyGlobalFilter}, which reads the body on a route with retries. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 1001;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return chain.filter(onHeap(exchange));
    }

    /** Whether the body is cached, and can be read any number of times. */
    static boolean isCached(ServerWebExchange exchange) {
        return exchange.getAttribute(CACHED_REQUEST_BODY_ATTR) != null;
    }

    /** The exchange with its cached body on the heap; the exchange itself when no body is cached in Netty's memory. */
    static ServerWebExchange onHeap(ServerWebExchange exchange) {
        // The thread that removes the attribute frees the buffer: the request may end on another thread at this moment.
        return exchange.getAttribute(CACHED_REQUEST_BODY_ATTR) instanceof PooledDataBuffer pooled
                        && exchange.getAttributes().remove(CACHED_REQUEST_BODY_ATTR, pooled)
                ? exchange.mutate()
                        .request(withBody(exchange.getRequest(), moved(exchange, pooled)))
                        .build()
                : exchange;
    }

    private static ServerHttpRequest withBody(ServerHttpRequest request, byte[] bytes) {
        return new ServerHttpRequestDecorator(request) {
            @Override
            public Flux<DataBuffer> getBody() {
                return Flux.defer(() -> Flux.just(wrapped(bytes)));
            }
        };
    }

    private static byte[] moved(ServerWebExchange exchange, PooledDataBuffer pooled) {
        try {
            byte[] bytes = new byte[pooled.readableByteCount()];
            pooled.read(bytes);
            exchange.getAttributes().put(CACHED_REQUEST_BODY_ATTR, wrapped(bytes));
            return bytes;
        } finally {
            pooled.release();
        }
    }

    private static DataBuffer wrapped(byte[] bytes) {
        return DefaultDataBufferFactory.sharedInstance.wrap(bytes);
    }
}
