package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;

/**
 * A body that Spring Cloud Gateway has read before any filter, to send it again on a retry.
 *
 * <p>When a request ends, Spring Cloud Gateway frees the memory of such a body whether or not it is still being sent
 * ({@code ServerWebExchangeUtils.clearCachedRequestBody} releases it until nothing refers to it). Netty reuses the memory at
 * once, so the upstream could get a part of another request. A later question for the body is answered with an empty one, for
 * which the upstream then waits. A request that goes on without its client meets both. So what is sent is a copy on the heap:
 * counting the users of Netty's memory instead was turned down, because a part that the HTTP client drops is never given back.
 */
final class CachedBody {

    private CachedBody() {}

    /**
     * A copy, for any number of subscribers.
     *
     * @return null when the gateway keeps no body of the request
     */
    static @Nullable Flux<DataBuffer> copyOf(ServerWebExchange exchange) {
        DataBuffer cached = exchange.getAttribute(CACHED_REQUEST_BODY_ATTR);
        if (cached == null) {
            return null;
        }
        byte[] bytes = new byte[cached.readableByteCount()];
        cached.toByteBuffer(cached.readPosition(), ByteBuffer.wrap(bytes), 0, bytes.length);
        return Flux.defer(() -> Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(bytes)));
    }
}
