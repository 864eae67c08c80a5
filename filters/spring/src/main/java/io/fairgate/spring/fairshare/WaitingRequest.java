package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.Exchanges;
import java.util.concurrent.TimeUnit;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/**
 * A request that waits for its permits: how long it waits, what is read of its body, and whether its client has left.
 */
final class WaitingRequest {

    private final ServerWebExchange exchange;
    private final ReadAheadBody body;
    private final boolean mayReadAhead;
    private final Scheduler time;
    private final long askedAt;
    private volatile boolean hasWaited;

    WaitingRequest(ServerWebExchange exchange, ByteBudget waitingBodies, Scheduler time) {
        this.exchange = exchange;
        this.body = new ReadAheadBody(exchange.getRequest().getBody(), waitingBodies);
        this.mayReadAhead = mayReadAhead(exchange);
        this.time = time;
        this.askedAt = time.now(TimeUnit.NANOSECONDS);
    }

    /**
     * A client that sent {@code Expect: 100-continue} has not sent its body yet, and reading the body would make the
     * server answer 100. A body that the gateway has cached, as it does for retries, has been read already.
     */
    private static boolean mayReadAhead(ServerWebExchange exchange) {
        return !"100-continue"
                        .equalsIgnoreCase(exchange.getRequest().getHeaders().getFirst(HttpHeaders.EXPECT))
                && !CachedBodyFilter.isCached(exchange);
    }

    /** Called when the request has to wait. */
    void begin() {
        hasWaited = true;
        if (mayReadAhead) {
            body.start();
        }
    }

    long waitedNanos() {
        return time.now(TimeUnit.NANOSECONDS) - askedAt;
    }

    /** Whether the client has left unnoticed. While the body is not being read, only the socket shows that. */
    boolean clientHasLeft() {
        boolean isUnwatched = hasWaited && (body.isPaused() || !mayReadAhead);
        return isUnwatched && ClientSocket.hasLeft(Exchanges.connection(exchange));
    }

    /** The whole body: the part that has been read, and the rest. */
    Flux<DataBuffer> body() {
        return body.body();
    }

    /** Frees what has been read and not sent. */
    void discardBody() {
        body.discard();
    }
}
