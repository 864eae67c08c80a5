package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.refusal.ClientLeftException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpMethod;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.http.HttpOperations;
import reactor.util.context.Context;

/**
 * One request to the upstream, from its sending until the whole response has come or the connection is closed.
 *
 * <p>{@link #leave} says that the response is no longer wanted. The fate of the connection is then decided on its own
 * event loop, where nothing is sent or received at the same moment:
 *
 * <ul>
 *   <li>Not completely sent, or answered: the connection is closed, and the upstream sees that.
 *   <li>Completely sent and not answered: the upstream is at work, and few upstreams notice a closed connection before
 *       they write. If the request may go on without its client, the connection stays open until the headers come,
 *       until the upstream closes it, or until the permit has been held for the maximum hold.
 * </ul>
 *
 * <p>It subscribes to the HTTP client, and passes the connection on when the headers of the response have come.
 *
 * <p>An exchange may also end after the response has come and before its body is read. The part of the body that has
 * come is then never read, and Reactor Netty keeps it for a reader until the connection is disposed of.
 */
final class UpstreamExchange implements CoreSubscriber<Connection>, Subscription {

    /** With the channel, which the connection may no longer give once its exchange is over for Reactor Netty. */
    private record Wire(HttpMethod method, Connection connection, Channel channel) {

        EventLoop loop() {
            return channel.eventLoop();
        }

        boolean hasSentHeaders() {
            return connection instanceof HttpOperations<?, ?> exchange && exchange.hasSentHeaders();
        }

        /** Reactor Netty sends these when they are complete, but may report the end later, on another thread. */
        boolean isInOnePiece() {
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD) || method.equals(HttpMethod.DELETE);
        }
    }

    private static final AtomicReferenceFieldUpdater<UpstreamExchange, @Nullable Subscription> CONNECTING =
            AtomicReferenceFieldUpdater.newUpdater(UpstreamExchange.class, Subscription.class, "connecting");
    private static final AtomicIntegerFieldUpdater<UpstreamExchange> REQUESTED =
            AtomicIntegerFieldUpdater.newUpdater(UpstreamExchange.class, "requested");

    private final UpstreamConnection request;
    private final Mono<? extends Connection> connect;
    private final CoreSubscriber<? super Connection> subscriber;
    private final Context context;
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private final Sinks.Empty<Void> quiesced = Sinks.empty();
    private final ChannelFutureListener quiesce = closed -> quiesce();

    @SuppressWarnings("UnusedVariable") // Its updater uses it.
    private volatile @Nullable Subscription connecting;

    @SuppressWarnings("UnusedVariable") // Its updater uses it.
    private volatile int requested;

    private volatile boolean cancelled;
    private volatile @Nullable Wire wire;
    private volatile boolean left;
    private volatile boolean sent;
    private volatile boolean bodyIsWhole;
    private volatile boolean answered;
    private volatile boolean complete;
    private volatile boolean isQuiesced;

    /** Used on the event loop only. */
    private boolean ending;

    private volatile Disposable end = Disposables.disposed();

    UpstreamExchange(
            UpstreamConnection request,
            Mono<? extends Connection> connect,
            CoreSubscriber<? super Connection> subscriber) {
        this.request = request;
        this.connect = connect;
        this.subscriber = subscriber;
        this.context = Carried.with(subscriber.currentContext(), this);
    }

    // ---- between the HTTP client and the subscriber ----

    void start() {
        subscriber.onSubscribe(this);
    }

    @Override
    public void request(long n) {
        if (!Operators.validate(n) || REQUESTED.getAndSet(this, 1) != 0) {
            return;
        }
        if (request.isOver()) {
            leave();
            if (!cancelled) {
                subscriber.onError(new ClientLeftException());
            }
        } else if (!left) {
            connect.subscribe(this);
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        leave();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.setOnce(CONNECTING, this, subscription)) {
            subscription.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(Connection connection) {
        if (!left) {
            subscriber.onNext(connection);
        }
    }

    @Override
    public void onComplete() {
        if (!left) {
            subscriber.onComplete();
        }
    }

    @Override
    public void onError(Throwable failure) {
        if (!left) {
            fail();
            subscriber.onError(failure);
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }

    // ---- events of the HTTP client ----

    /** About to be sent. Either this sees that the exchange was left, or {@link #leave} sees the connection. */
    void send(HttpMethod method, Connection connection) {
        Channel channel = connection.channel();
        wire = new Wire(method, connection, channel);
        if (left) {
            var unused = channel.close();
            throw new ClientLeftException();
        }
    }

    void sent() {
        sent = true;
    }

    /** The body has its announced length, though its end may be missing. */
    void bodyIsWhole() {
        bodyIsWhole = true;
    }

    /** The headers of the response have come. */
    void answered() {
        answered = true;
        Wire on = wire;
        if (!left) {
            idle.tryEmitEmpty();
        } else if (on != null) {
            // Scheduled for later, because Reactor Netty is still processing the response.
            on.loop().execute(on.connection()::dispose);
        }
    }

    boolean isAnswered() {
        return answered;
    }

    /** The whole response has come. */
    void complete() {
        complete = true;
        Wire on = wire;
        if (left && on != null) {
            on.channel().closeFuture().removeListener(quiesce);
            quiesce();
        }
    }

    // ---- when the response is no longer wanted ----

    /** Whether the request was sent, or is being sent, and is neither answered nor quiesced. */
    boolean isUnanswered() {
        return wire != null && !answered && !isQuiesced;
    }

    /** Completes when the upstream has answered, or, after {@link #leave}, when it is done with the request. */
    Mono<Void> idle() {
        return idle.asMono();
    }

    /** Completes, after {@link #leave}, when the upstream is done with the request. */
    Mono<Void> quiesced() {
        return quiesced.asMono();
    }

    void leave() {
        end(false);
    }

    /** The exchange has failed: its connection, if there is one, is of no use any more. */
    private void fail() {
        end(true);
    }

    private void end(boolean hasFailed) {
        left = true;
        Wire on = wire;
        if (on == null) {
            stopConnecting();
            quiesce();
        } else if (on.loop().inEventLoop()) {
            // At once, as cancellations are.
            end(on, hasFailed);
        } else {
            try {
                on.loop().execute(() -> end(on, hasFailed));
            } catch (RejectedExecutionException shutDown) {
                quiesce();
            }
        }
    }

    private void end(Wire on, boolean hasFailed) {
        if (ending) {
            return;
        }
        ending = true;
        if (complete) {
            quiesce();
        } else {
            on.channel().closeFuture().addListener(quiesce);
        }
        long mayGoOn = !hasFailed && isAtWork(on) ? request.mayGoOnNanos() : 0;
        if (mayGoOn > 0) {
            end = request.after(mayGoOn, on.loop(), on.connection()::dispose);
        } else {
            stopConnecting();
            on.connection().dispose();
        }
    }

    private void stopConnecting() {
        Operators.terminate(CONNECTING, this);
    }

    private boolean isAtWork(Wire on) {
        return !answered && (sent || (on.hasSentHeaders() && (on.isInOnePiece() || bodyIsWhole)));
    }

    private void quiesce() {
        end.dispose();
        isQuiesced = true;
        quiesced.tryEmitEmpty();
        idle.tryEmitEmpty();
    }
}
