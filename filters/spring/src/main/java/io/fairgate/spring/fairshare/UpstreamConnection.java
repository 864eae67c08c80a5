package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.spring.exchange.Carried;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;

/**
 * The upstream side of a request that holds a permit: its {@link UpstreamExchange}, or one for each attempt.
 *
 * <p>When a client leaves, or the upstream is too slow, everything between the client and the gateway's HTTP client is
 * cancelled at once. With {@link OnClientLeft#FINISH} this class stops the cancellation while the upstream is at work,
 * and {@link #quiesced} keeps the permit until the upstream has answered. It is stopped here, and not around the whole
 * chain, so that nothing else is kept for a client that has left: no body, no timer, no filter.
 */
final class UpstreamConnection {

    /** Reports each request of the gateway's HTTP client to its exchange. */
    static final HttpClientCustomizer NOTED = UpstreamConnection::note;

    private final OnClientLeft onClientLeft;
    private final Duration maxHold;
    private final Scheduler time;
    private volatile long grantedAt;
    private volatile @Nullable UpstreamExchange latest;
    /** The request has ended: an exchange that has not been sent yet must not be sent any more. */
    private volatile boolean over;

    UpstreamConnection(OnClientLeft onClientLeft, Duration maxHold, Scheduler time) {
        this.onClientLeft = onClientLeft;
        this.maxHold = maxHold;
        this.time = time;
    }

    private static HttpClient note(HttpClient client) {
        return client.mapConnect(UpstreamConnection::exchange)
                .doOnRequest((request, connection) ->
                        report(request, exchange -> exchange.send(request.method(), connection)))
                .doAfterRequest((request, connection) -> report(request, UpstreamExchange::sent))
                .doOnResponse((response, connection) -> report(response, UpstreamExchange::answered))
                .doAfterResponseSuccess((response, connection) -> report(response, UpstreamExchange::complete));
    }

    private static void report(HttpClientInfos infos, Consumer<UpstreamExchange> event) {
        UpstreamExchange exchange = Carried.find(infos.currentContextView(), UpstreamExchange.class);
        if (exchange != null) {
            event.accept(exchange);
        }
    }

    private static Mono<? extends Connection> exchange(Mono<? extends Connection> connect) {
        return new Mono<Connection>() {
            @Override
            public void subscribe(CoreSubscriber<? super Connection> subscriber) {
                UpstreamConnection request = Carried.find(subscriber.currentContext(), UpstreamConnection.class);
                if (request == null) {
                    connect.cast(Connection.class).subscribe(subscriber);
                } else {
                    request.next(connect, subscriber);
                }
            }
        };
    }

    /**
     * A permit covers one exchange at a time: the next one waits until the earlier one has been answered, or, if it was
     * abandoned, until the upstream is done with it. The earlier exchange is left then, because its body is not read
     * any more: an attempt that timed out while its response came has dropped the connection without closing it.
     */
    private void next(Mono<? extends Connection> connect, CoreSubscriber<? super Connection> subscriber) {
        UpstreamExchange earlier = latest;
        if (earlier == null) {
            start(null, connect, subscriber);
        } else {
            earlier.idle()
                    .then(new Mono<Connection>() {
                        @Override
                        public void subscribe(CoreSubscriber<? super Connection> later) {
                            start(earlier, connect, later);
                        }
                    })
                    .subscribe(subscriber);
        }
    }

    private void start(
            @Nullable UpstreamExchange earlier,
            Mono<? extends Connection> connect,
            CoreSubscriber<? super Connection> subscriber) {
        UpstreamExchange exchange = new UpstreamExchange(this, connect, subscriber);
        boolean isNext;
        synchronized (this) {
            isNext = latest == earlier;
            if (isNext) {
                latest = exchange;
            }
        }
        if (!isNext) { // Another one has begun meanwhile.
            next(connect, subscriber);
            return;
        }
        if (earlier != null) {
            earlier.leave();
        }
        exchange.start();
    }

    /** Whether the request has ended. Either an exchange sees the end, or {@link #quiesced} sees the exchange. */
    boolean isOver() {
        return over;
    }

    /** Called when the permit has been granted. */
    void begin() {
        grantedAt = time.now(TimeUnit.NANOSECONDS);
    }

    /** Whether the upstream has sent the headers of its response to the latest attempt. */
    boolean isAnswered() {
        UpstreamExchange current = latest;
        return current != null && current.isAnswered();
    }

    /** Called when the HTTP client was given as many bytes of the client's body as its {@code Content-Length}. */
    void bodyIsWhole() {
        UpstreamExchange current = latest;
        if (current != null) {
            current.bodyIsWhole();
        }
    }

    /** How long the upstream may continue its work without the client, in nanoseconds; 0 or less when it may not. */
    long mayGoOnNanos() {
        return onClientLeft == OnClientLeft.CLOSE
                ? 0
                : maxHold.toNanos() - (time.now(TimeUnit.NANOSECONDS) - grantedAt);
    }

    /** Runs a task on the event loop later; not when the loop is shutting down, which closes its connections. */
    Disposable after(long nanos, EventLoop loop, Runnable task) {
        return time.schedule(
                () -> {
                    if (!loop.isShuttingDown()) {
                        loop.execute(task);
                    }
                },
                nanos,
                TimeUnit.NANOSECONDS);
    }

    /**
     * Completes when the upstream has answered. Errors with {@link UnansweredException} when it has not: a filter may
     * have answered the client in its place, after a time-out for instance. The permit then waits for {@link #quiesced}.
     */
    Mono<Void> requireAnswered() {
        return Mono.defer(() -> {
            UpstreamExchange last = latest;
            return last != null && last.isUnanswered() ? Mono.error(new UnansweredException()) : Mono.empty();
        });
    }

    /** The request is complete for its client, and the upstream may still work on it. */
    static final class UnansweredException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        UnansweredException() {
            super("the upstream has not answered", null, false, false);
        }
    }

    /**
     * Ends the upstream side of the request. Completes when the upstream has no more work for it, as far as that can be
     * known, and the connection is closed, or the whole response has come.
     *
     * <p>If the permit were given back before the connection is closed, the upstream could see the next request before
     * the end of this one: more requests at once than there are permits.
     */
    Mono<Void> quiesced() {
        return Mono.defer(() -> {
            over = true;
            UpstreamExchange last = latest;
            if (last == null) {
                return Mono.empty();
            }
            last.leave();
            return last.quiesced();
        });
    }
}
