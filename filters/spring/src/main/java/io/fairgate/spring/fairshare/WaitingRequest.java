package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.Exchanges;

import java.util.concurrent.TimeUnit;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/** A request while it waits for its permits: how long it waits, what is read of its body, and whether its client is still there. */
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
     * A client that asked to be told to continue has not sent its body, and reading it would tell it to. A body that the
     * gateway has cached, as it does for retries, has been read already.
     */
    private static boolean mayReadAhead(ServerWebExchange exchange) {
        return !"100-continue"
                        .equalsIgnoreCase(exchange.getRequest().getHeaders().getFirst(HttpHeaders.EXPECT))
                && !CachedBodyFilter.isCached(exchange);
    }

    /** The request has to wait. */
    void begin() {
        hasWaited = true;
        if (mayReadAhead) {
            body.start();
        }
    }

    long waitedNanos() {
        return time.now(TimeUnit.NANOSECONDS) - askedAt;
    }

    /** While nothing of the body is read, only the socket tells whether the client has left. */
    boolean clientHasLeft() {
        boolean isUnwatched = hasWaited && (body.isPaused() || !mayReadAhead);
        return isUnwatched && ClientSocket.hasLeft(Exchanges.connection(exchange));
    }

    /** What has been read of the body, and the rest. */
    Flux<DataBuffer> body() {
        return body.body();
    }

    /** Frees what has been read and not sent. */
    void discardBody() {
        body.discard();
    }
}
