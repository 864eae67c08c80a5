package io.fairgate.spring.fairshare;

import io.fairgate.spring.refusal.ClientLeftException;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferWrapper;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A body that Spring Cloud Gateway has read before any filter, to send it again on a retry.
 *
 * <p>When a request ends, Spring Cloud Gateway frees the memory of such a body whether or not it is still being sent
 * ({@code ServerWebExchangeUtils.clearCachedRequestBody} releases it until nothing refers to it). Netty reuses the memory at
 * once, so the upstream could get a part of another request. It also answers a later question for the body with an empty one,
 * for which the upstream then waits. A request that goes on without its client meets both. Here the memory is freed after its
 * last use, and a body that is gone is an error.
 *
 * <p>Safe for use by several threads: a body is sent on the event loop of the upstream's connection, and given up on that of the
 * client's.
 */
final class CachedBody {

    private final NettyDataBuffer whole;
    private boolean released;

    private CachedBody(NettyDataBuffer whole) {
        this.whole = whole;
    }

    /**
     * Takes the body over: {@link #release} must be called. Filters find it where it was.
     *
     * @return null when the request has none
     */
    static @Nullable CachedBody takeFrom(ServerWebExchange exchange) {
        DataBuffer cached = exchange.getAttribute(CACHED_REQUEST_BODY_ATTR);
        if (!(cached instanceof NettyDataBuffer whole)) {
            return null;
        }
        // The wrapper is no PooledDataBuffer, so clearCachedRequestBody does not release it.
        boolean taken =
                exchange.getAttributes().replace(CACHED_REQUEST_BODY_ATTR, cached, new DataBufferWrapper(whole));
        return taken ? new CachedBody(whole) : null;
    }

    /** The whole body; for any number of subscribers, before {@link #release}. */
    Flux<DataBuffer> body() {
        return Mono.fromSupplier(this::slice).flux();
    }

    private synchronized DataBuffer slice() {
        if (released) {
            throw new ClientLeftException();
        }
        return whole.factory().wrap(whole.getNativeBuffer().retainedSlice());
    }

    /** Frees the memory as soon as nothing of it is being sent. */
    synchronized void release() {
        if (!released) {
            released = true;
            whole.release();
        }
    }
}
