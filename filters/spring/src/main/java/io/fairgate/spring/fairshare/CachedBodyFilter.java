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
 * Moves a body that Spring Cloud Gateway has read before any filter, to send it again on a retry, from Netty's memory to the
 * heap.
 *
 * <p>When a request ends, Spring Cloud Gateway frees Netty's memory of such a body whether or not it is still being sent
 * ({@code ServerWebExchangeUtils.clearCachedRequestBody} releases it until nothing refers to it). Netty reuses the memory at
 * once, so the upstream could get a part of another request. A later question for the body is answered with an empty one, for
 * which the upstream then waits. A request that goes on without its client meets both. And where the request ends on another
 * thread just when the body has been read, nothing would free it. Counting the users of Netty's memory instead was turned
 * down, because a part that the HTTP client drops is never given back.
 */
final class CachedBodyFilter implements GlobalFilter, Ordered {

    /** Right behind Spring Cloud Gateway's {@code AdaptCachedBodyGlobalFilter}, which has read the body of a route with retries. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 1001;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return chain.filter(onHeap(exchange));
    }

    /** Whether the body was read before, and can be read any number of times. */
    static boolean isCached(ServerWebExchange exchange) {
        return exchange.getAttribute(CACHED_REQUEST_BODY_ATTR) != null;
    }

    /** The exchange with its cached body on the heap; the exchange itself when no body is cached in Netty's memory. */
    static ServerWebExchange onHeap(ServerWebExchange exchange) {
        // The thread that removes it frees it: the request may end on another one at this moment.
        return exchange.getAttribute(CACHED_REQUEST_BODY_ATTR) instanceof PooledDataBuffer pooled
                        && exchange.getAttributes().remove(CACHED_REQUEST_BODY_ATTR, pooled)
                ? exchange.mutate()
                        .request(new HeapRequest(exchange.getRequest(), moved(exchange, pooled)))
                        .build()
                : exchange;
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

    private static final class HeapRequest extends ServerHttpRequestDecorator {

        private final Flux<DataBuffer> body;

        HeapRequest(ServerHttpRequest request, byte[] bytes) {
            super(request);
            this.body = Flux.defer(() -> Flux.just(wrapped(bytes)));
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return body;
        }
    }
}
