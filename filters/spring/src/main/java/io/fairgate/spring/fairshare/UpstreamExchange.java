package io.fairgate.spring.fairshare;

import io.fairgate.spring.refusal.ClientLeftException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpMethod;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.http.HttpOperations;

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
 * <p>An exchange may also end after the response has come and before its body is read. The part of the body that has
 * come is then never read, and Reactor Netty keeps it for a reader until the connection is disposed of.
 */
final class UpstreamExchange {

    /** With the channel, which the connection may no longer give once its exchange is over for Reactor Netty. */
    private record Wire(HttpMethod method, Connection connection, Channel channel) {

        EventLoop loop() {
            return channel.eventLoop();
        }

        /** Whether the headers are sent; not those of a WebSocket's handshake, because that is no work. */
        boolean hasSentHeaders() {
            return connection instanceof HttpOperations<?, ?> exchange
                    && exchange.hasSentHeaders()
                    && !exchange.isWebsocket();
        }

        /** Reactor Netty sends these when they are complete, but may report the end later, on another thread. */
        boolean isInOnePiece() {
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD) || method.equals(HttpMethod.DELETE);
        }
    }

    private final UpstreamConnection request;
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private final Sinks.Empty<Void> quiesced = Sinks.empty();
    private final ChannelFutureListener quiesce = closed -> quiesce();

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

    UpstreamExchange(UpstreamConnection request) {
        this.request = request;
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

    boolean isLeft() {
        return left;
    }

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
        end(Disposables.disposed(), false);
    }

    /** @param connecting the attempt to connect, disposed of unless the exchange goes on */
    void leave(Disposable connecting) {
        end(connecting, false);
    }

    /** The exchange has failed: its connection, if there is one, is of no use any more. */
    void fail() {
        end(Disposables.disposed(), true);
    }

    private void end(Disposable connecting, boolean hasFailed) {
        left = true;
        Wire on = wire;
        if (on == null) {
            connecting.dispose();
            quiesce();
        } else if (on.loop().inEventLoop()) {
            // At once, as cancellations are.
            end(on, connecting, hasFailed);
        } else {
            try {
                on.loop().execute(() -> end(on, connecting, hasFailed));
            } catch (RejectedExecutionException shutDown) {
                quiesce();
            }
        }
    }

    private void end(Wire on, Disposable connecting, boolean hasFailed) {
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
            connecting.dispose();
            on.connection().dispose();
        }
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
