package io.fairgate.spring.fairshare;

import io.fairgate.spring.refusal.ClientLeftException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.Sinks.EmitResult;
import reactor.util.concurrent.Queues;

/**
 * The body of a request, read while the request waits: Reactor Netty notices that a client has left only while it reads
 * from the connection, and it reads only while the body is requested. With its body unread, a request would wait on
 * after its client has left, win a permit, and be sent to the upstream. When the {@link ByteBudget} has no more room,
 * reading pauses until the upstream takes the body.
 *
 * <p>{@link #start} begins to read; {@link #body} is the body for the upstream, whether started or not;
 * {@link #discard} must be called when the exchange is over, and frees the buffers that were not taken.
 */
final class ReadAheadBody {

    private final Flux<DataBuffer> source;
    private final ByteBudget budget;
    private final boolean mayRead;
    private volatile boolean waited;
    private volatile boolean discarded;
    /** Null until reading begins: most requests need not wait. */
    private volatile @Nullable Reading reading;

    /** @param mayRead whether the body may be read before the upstream takes it */
    ReadAheadBody(Flux<DataBuffer> source, ByteBudget budget, boolean mayRead) {
        this.source = source;
        this.budget = budget;
        this.mayRead = mayRead;
    }

    /**
     * The body of the request. Reading it would make the server answer an {@code Expect: 100-continue}, after which the
     * client sends it. A body that the gateway has cached for retries has been read already.
     */
    static ReadAheadBody of(ServerWebExchange exchange, ByteBudget budget) {
        ServerHttpRequest request = exchange.getRequest();
        boolean mayRead = !"100-continue".equalsIgnoreCase(request.getHeaders().getFirst(HttpHeaders.EXPECT))
                && !CachedBodyFilter.isCached(exchange);
        return new ReadAheadBody(request.getBody(), budget, mayRead);
    }

    /** Begins to read. If another thread ends the exchange meanwhile, this or {@link #discard} frees the buffers. */
    void start() {
        waited = true;
        if (!mayRead) {
            return;
        }
        Reading begun = new Reading(budget);
        reading = begun;
        source.subscribe(begun);
        if (discarded) {
            begun.discard();
        }
    }

    /** Whether the request has waited. */
    boolean hasWaited() {
        return waited;
    }

    /** Whether nothing was read. */
    boolean isUntouched() {
        return reading == null;
    }

    /** Whether the request has waited and its body is not being read, so that a client that leaves goes unnoticed. */
    boolean isUnwatched() {
        Reading begun = reading;
        return waited && (begun == null || begun.isPaused());
    }

    /** The whole body, from its first byte; for one subscriber. */
    Flux<DataBuffer> body() {
        return Flux.defer(() -> {
            Reading begun = reading;
            // A body that was not read, or is empty, may be subscribed again, as a retry does.
            return begun == null ? source : begun.body();
        });
    }

    /** Stops reading, and frees what was read and not taken. Does nothing when all was taken. */
    void discard() {
        discarded = true;
        Reading begun = reading;
        if (begun != null) {
            begun.discard();
        }
    }

    /** Reads the body, and keeps what the upstream has not taken. */
    private static final class Reading extends BaseSubscriber<DataBuffer> {

        private final ByteBudget budget;
        private final Sinks.Many<DataBuffer> kept = Sinks.many()
                .unicast()
                .onBackpressureBuffer(Queues.<DataBuffer>unbounded(16).get());
        private final AtomicLong keptBytes = new AtomicLong();
        private final AtomicBoolean paused = new AtomicBoolean();
        private final AtomicBoolean taken = new AtomicBoolean();
        private volatile boolean complete;
        private volatile boolean anyBytes;
        private volatile boolean empty;

        Reading(ByteBudget budget) {
            this.budget = budget;
        }

        boolean isPaused() {
            return !complete && paused.get();
        }

        Flux<DataBuffer> body() {
            if (empty) {
                return Flux.empty();
            }
            taken.set(true);
            return kept.asFlux().doOnNext(this::handedOn).doOnDiscard(DataBuffer.class, this::free);
        }

        void discard() {
            cancel();
            // An error and not a completion: a subscriber must not mistake the part that has come for the whole body.
            kept.tryEmitError(new ClientLeftException());
            if (taken.compareAndSet(false, true)) {
                var unused = kept.asFlux().subscribe(this::free, clientHasLeft -> {});
            }
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            request(1);
        }

        @Override
        protected void hookOnNext(DataBuffer buffer) {
            int bytes = buffer.readableByteCount();
            anyBytes |= bytes > 0;
            keptBytes.addAndGet(bytes);
            budget.add(bytes);
            if (kept.tryEmitNext(buffer) != EmitResult.OK) {
                free(buffer);
            } else if (!taken.get() && budget.hasRoom()) {
                request(1);
            } else {
                paused.set(true);
                continueIfAllTaken();
            }
        }

        @Override
        protected void hookOnComplete() {
            empty = !anyBytes;
            kept.tryEmitComplete();
        }

        @Override
        protected void hookOnError(Throwable error) {
            kept.tryEmitError(error);
        }

        @Override
        protected void hookFinally(SignalType type) {
            complete = true;
        }

        private void handedOn(DataBuffer buffer) {
            forget(buffer.readableByteCount());
            continueIfAllTaken();
        }

        /** While the upstream takes the body, it is passed on piece by piece, even if the budget has no room. */
        private void continueIfAllTaken() {
            if (keptBytes.get() == 0 && paused.compareAndSet(true, false)) {
                request(1);
            }
        }

        private void free(DataBuffer buffer) {
            forget(buffer.readableByteCount());
            DataBufferUtils.release(buffer);
        }

        private void forget(int bytes) {
            keptBytes.addAndGet(-bytes);
            budget.giveBack(bytes);
        }
    }
}
