package io.fairgate.spring.forward;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.NettyInbound;
import reactor.netty.NettyOutbound;

/** The connection of a response, disposed of on its event loop only: see {@link ResponseConnectionFilter}. */
record ResponseConnection(Connection connection, EventLoop loop) implements Connection {

    /** The connection itself when its exchange is over for Reactor Netty: then nothing can be disposed of any more. */
    static Connection of(Connection connection) {
        Channel channel = connection.channel();
        return channel.isRegistered() ? new ResponseConnection(connection, channel.eventLoop()) : connection;
    }

    @Override
    public void dispose() {
        if (loop.inEventLoop()) {
            connection.dispose();
        } else {
            try {
                loop.execute(connection::dispose);
            } catch (RejectedExecutionException shutDown) {
                // Its connections are closed then.
            }
        }
    }

    // All that an exchange has of its own; the other methods of a connection work on its channel.

    @Override
    public Channel channel() {
        return connection.channel();
    }

    @Override
    public <T extends Connection> @Nullable T as(Class<T> type) {
        return connection.as(type);
    }

    @Override
    public boolean isDisposed() {
        return connection.isDisposed();
    }

    @Override
    public NettyInbound inbound() {
        return connection.inbound();
    }

    @Override
    public NettyOutbound outbound() {
        return connection.outbound();
    }

    @Override
    public boolean isPersistent() {
        return connection.isPersistent();
    }

    @Override
    public Mono<Void> onTerminate() {
        return connection.onTerminate();
    }

    @Override
    public Connection onDispose(Disposable task) {
        connection.onDispose(task);
        return this;
    }
}
