package io.fairgate.spring.pace;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.netty.Connection;
import reactor.util.context.Context;

/**
 * The body of a request that a client must send at a pace. It errors with {@link SlowBodyException} when the client pauses for too long,
 * or when it sends too slowly while the pool is full: otherwise a few clients with slow bodies could keep all permits.
 *
 * <p>Only the time in which the client is asked for more counts. While the upstream takes nothing, the client cannot send. When the
 * upstream has begun to answer, both sides may talk as they like, as a stream of gRPC does. Most bodies are there as a whole when
 * they are asked for, and need no timer.
 */
public final class PacedBody extends Flux<DataBuffer> {

    /** Between two looks at a body. It may be so long unnoticed that the client may send, or may not. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Flux<DataBuffer> body;
    private final Pace pace;
    private final @Nullable PermitPool pool;
    private final BooleanSupplier mustSend;
    private final EventLoop loop;

    /**
     * @param pool null if the rate counts at all times
     * @param mustSend whether the client can send, and has to; asked on the event loop
     * @param loop the event loop of the client's connection
     */
    PacedBody(Flux<DataBuffer> body, Pace pace, @Nullable PermitPool pool, BooleanSupplier mustSend, EventLoop loop) {
        this.body = body;
        this.pace = pace;
        this.pool = pool;
        this.mustSend = mustSend;
        this.loop = loop;
    }

    /**
     * The body as its client must send it. Notes that on the exchange, if there is a limit.
     *
     * @param body the body as it comes
     * @param pool whose permits the request holds; without permits (null), the rate counts at all times: otherwise a client that sends a
     *     byte now and then could keep a connection to the upstream for ever
     * @param isAnswered whether the response has begun
     */
    public static Flux<DataBuffer> of(
            ServerWebExchange exchange,
            Flux<DataBuffer> body,
            Pace pace,
            @Nullable PermitPool pool,
            BooleanSupplier isAnswered) {
        Connection client = ClientConnection.of(exchange);
        if (client == null || pace.hasNoLimit()) {
            return body;
        }
        Exchanges.setPaced(exchange);
        Channel channel = client.channel();
        return new PacedBody(
                body,
                pace,
                pool,
                () -> !isAnswered.getAsBoolean() && ReceiveWindow.isOpen(channel),
                channel.eventLoop());
    }

    /** A request that holds no permits, with its body as its client must send it. */
    public static ServerWebExchange ofUnheld(ServerWebExchange exchange, Pace pace) {
        ServerHttpRequest request = exchange.getRequest();
        if (!mayHaveBody(request) || pace.hasNoLimit()) {
            return exchange;
        }
        Flux<DataBuffer> body = of(
                exchange,
                request.getBody(),
                pace,
                null,
                () -> exchange.getResponse().isCommitted());
        return exchange.mutate()
                .request(new ServerHttpRequestDecorator(request) {
                    @Override
                    public Flux<DataBuffer> getBody() {
                        return body;
                    }
                })
                .build();
    }

    /** Whether a request may have a body. */
    public static boolean mayHaveBody(ServerHttpRequest request) {
        HttpHeaders headers = request.getHeaders();
        return !request.getMethod().equals(HttpMethod.GET)
                || headers.getContentLength() >= 0
                || headers.containsHeader(HttpHeaders.TRANSFER_ENCODING);
    }

    @Override
    public void subscribe(CoreSubscriber<? super DataBuffer> reader) {
        // The limits are looked at on the event loop; a body that was read ahead may come on another thread.
        body.subscribe(new Reading(Operators.serialize(reader)));
    }

    private final class Reading implements CoreSubscriber<DataBuffer>, Subscription {

        private static final AtomicLongFieldUpdater<Reading> ASKED =
                AtomicLongFieldUpdater.newUpdater(Reading.class, "asked");
        private static final AtomicIntegerFieldUpdater<Reading> OVER =
                AtomicIntegerFieldUpdater.newUpdater(Reading.class, "over");

        private final CoreSubscriber<? super DataBuffer> reader;
        private volatile @Nullable Subscription source;
        /** Parts that the upstream would take now; the client has to send while there are any. */
        private volatile long asked;

        @SuppressWarnings("UnusedVariable") // Its updater uses it.
        private volatile int over;

        private volatile @Nullable Future<?> timer;
        /** When the client was asked again after it was not, or when its latest part came. */
        private volatile long since;

        /** When the client was asked again after it was not. */
        private volatile long askedSince;
        /** The time of the window in which the client was asked, before {@link #askedSince}. */
        private volatile long askedBefore;

        private volatile long bytesInWindow;

        Reading(CoreSubscriber<? super DataBuffer> reader) {
            this.reader = reader;
        }

        private long now() {
            return loop.ticker().nanoTime();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            source = subscription;
            reader.onSubscribe(this);
            // The reader has asked by now, and got what was there.
            if (over == 0 && subscription != Operators.emptySubscription()) {
                arm(now());
            }
        }

        @Override
        public void request(long n) {
            if (asked == 0) { // Before it is asked: the event loop may look at any time.
                askedSince = now();
                since = askedSince;
            }
            Operators.addCap(ASKED, this, n);
            Subscription asking = source;
            if (asking != null) {
                asking.request(n);
            }
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // Parts come one after the other, and only the looks read these.
        public void onNext(DataBuffer part) {
            if (over != 0) {
                DataBufferUtils.release(part);
                return;
            }
            since = now();
            bytesInWindow += part.readableByteCount();
            if (Operators.produced(ASKED, this, 1) == 0) {
                askedBefore += since - askedSince;
            }
            reader.onNext(part);
        }

        private boolean end() {
            boolean isFirst = OVER.compareAndSet(this, 0, 1);
            Future<?> armed = timer;
            if (armed != null) {
                armed.cancel(false);
            }
            return isFirst;
        }

        @Override
        public void onComplete() {
            if (end()) {
                reader.onComplete();
            }
        }

        @Override
        public void onError(Throwable failure) {
            if (end()) {
                reader.onError(failure);
            } else {
                Operators.onErrorDropped(failure, currentContext());
            }
        }

        @Override
        public void cancel() {
            end();
            Subscription cancelled = source;
            if (cancelled != null) {
                cancelled.cancel();
            }
        }

        @Override
        public Context currentContext() {
            return reader.currentContext();
        }

        // ---- on the event loop ----

        private void arm(long now) {
            long untilPause = pace.pauseNanos() - (now - since);
            long next = pace.pauseNanos() == 0 || asked == 0 ? MOST_NANOS : Math.min(untilPause, MOST_NANOS);
            try {
                timer = loop.schedule(this::look, Math.max(LEAST_NANOS, next), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                return; // Its connections are closed then.
            }
            if (over != 0) {
                end();
            }
        }

        private long askedInWindow(long now) {
            return askedBefore + (asked == 0 ? 0 : now - askedSince);
        }

        private void beginWindow(long now) {
            bytesInWindow = 0;
            askedBefore = 0;
            askedSince = now;
        }

        private void look() {
            if (over != 0) {
                return;
            }
            long now = now();
            if (!mustSend.getAsBoolean()) {
                since = now;
                beginWindow(now);
            } else if (asked > 0 && pace.pauseNanos() > 0 && now - since >= pace.pauseNanos()) {
                giveUp();
                return;
            } else if (askedInWindow(now) >= Pace.WINDOW_NANOS) {
                if (!pace.isKept(bytesInWindow, Pace.WINDOW_NANOS)) {
                    if (pool == null) {
                        giveUp();
                        return;
                    }
                    Pace.ifFull(pool, loop, this::giveUp);
                }
                beginWindow(now);
            }
            arm(now);
        }

        private void giveUp() {
            Subscription given = source;
            if (mustSend.getAsBoolean() && end() && given != null) {
                given.cancel();
                reader.onError(new SlowBodyException());
            }
        }
    }
}
