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
 * <p>{@link #leave} says that nobody waits for the response any more. What then becomes of the connection is decided on its
 * own event loop, where nothing is sent and nothing comes at the same moment:
 *
 * <ul>
 *   <li>Not completely sent, or answered: it is closed. The upstream sees the break.
 *   <li>Completely sent and not answered: the upstream is at work, and few notice a closed connection before they write. If
 *       the request may go on without its client, the connection stays until the headers come, until the upstream closes
 *       it, or until the permit has been held for as long as it may.
 * </ul>
 *
 * <p>An exchange may also end between the coming of the response and the reading of its body. Nobody reads what has come
 * of it then, and Reactor Netty keeps it for a reader unless it is told, by disposing of the connection, that there will be
 * none.
 */
final class UpstreamExchange {

    /**
     * What it is sent on. The channel is not asked of the connection later: that stands for nothing any more once the exchange
     * is over for Reactor Netty.
     */
    private record Wire(HttpMethod method, Connection connection, Channel channel) {

        EventLoop loop() {
            return channel.eventLoop();
        }

        /** A handshake of a WebSocket is no work. */
        boolean hasSentHeaders() {
            return connection instanceof HttpOperations<?, ?> exchange
                    && exchange.hasSentHeaders()
                    && !exchange.isWebsocket();
        }

        /** Reactor Netty sends these when it has all of them; that it has sent the end it may tell on another thread, later. */
        boolean isInOnePiece() {
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD) || method.equals(HttpMethod.DELETE);
        }
    }

    private final UpstreamConnection request;
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private final Sinks.Empty<Void> settled = Sinks.empty();
    private final ChannelFutureListener settle = closed -> settle();

    private volatile @Nullable Wire wire;
    private volatile boolean left;
    private volatile boolean sent;
    private volatile boolean bodyIsWhole;
    private volatile boolean answered;
    private volatile boolean complete;
    private volatile boolean isSettled;

    /** Only on the event loop. */
    private boolean ending;

    private volatile Disposable end = Disposables.disposed();

    UpstreamExchange(UpstreamConnection request) {
        this.request = request;
    }

    // ---- what the HTTP client tells ----

    /** About to be sent. Either this sees that nobody waits for it, or {@link #leave} sees what it is sent on. */
    void send(HttpMethod method, Connection connection) {
        Channel channel = connection.channel();
        wire = new Wire(method, connection, channel);
        if (left) {
            var unused = channel.close();
            throw new ClientLeftException();
        }
    }

    /** To its end. */
    void sent() {
        sent = true;
    }

    /** As long as it was said to be, though its end may be missing. */
    void bodyIsWhole() {
        bodyIsWhole = true;
    }

    /** The headers are there. */
    void answered() {
        answered = true;
        Wire on = wire;
        if (!left) {
            idle.tryEmitEmpty();
        } else if (on != null) {
            // Not while Reactor Netty is at work with the response.
            on.loop().execute(on.connection()::dispose);
        }
    }

    /** The whole response is there. */
    void complete() {
        complete = true;
        Wire on = wire;
        if (left && on != null) {
            on.channel().closeFuture().removeListener(settle);
            settle();
        }
    }

    // ---- when nobody waits for the response any more ----

    boolean isLeft() {
        return left;
    }

    /** Whether it was sent, or is being sent, and neither was answered nor has ended. */
    boolean isUnanswered() {
        return wire != null && !answered && !isSettled;
    }

    /** Completes when the upstream has answered, or, after {@link #leave}, when it is done with it. */
    Mono<Void> idle() {
        return idle.asMono();
    }

    /** Completes, after {@link #leave}, when the upstream is done with it. */
    Mono<Void> settled() {
        return settled.asMono();
    }

    void leave() {
        leave(Disposables.disposed());
    }

    /** @param connecting what to dispose of unless it goes on */
    void leave(Disposable connecting) {
        left = true;
        end(connecting, false);
    }

    /** It has failed: the connection is of no use any more, if there is one. */
    void fail() {
        left = true;
        end(Disposables.disposed(), true);
    }

    private void end(Disposable connecting, boolean hasFailed) {
        Wire on = wire;
        if (on == null) {
            connecting.dispose();
            settle();
        } else if (on.loop().inEventLoop()) {
            // At once, as a cancellation is.
            end(on, connecting, hasFailed);
        } else {
            try {
                on.loop().execute(() -> end(on, connecting, hasFailed));
            } catch (RejectedExecutionException shutDown) {
                settle();
            }
        }
    }

    private void end(Wire on, Disposable connecting, boolean hasFailed) {
        if (ending) {
            return;
        }
        ending = true;
        if (complete) {
            settle();
        } else {
            on.channel().closeFuture().addListener(settle);
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

    private void settle() {
        end.dispose();
        isSettled = true;
        settled.tryEmitEmpty();
        idle.tryEmitEmpty();
    }
}
