package io.fairgate.spring.fairshare;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.NettyInbound;
import reactor.netty.NettyOutbound;

/**
 * The connection of a response, which is disposed of on its event loop: there it belongs either to its exchange, or no more to
 * any (see {@link ResponseConnectionFilter}).
 */
final class ResponseConnection implements Connection {

    private final Connection connection;
    private final EventLoop loop;

    private ResponseConnection(Connection connection, EventLoop loop) {
        this.connection = connection;
        this.loop = loop;
    }

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

    // All else is the connection's own.

    @Override
    public <T extends Connection> @Nullable T as(Class<T> type) {
        return connection.as(type);
    }

    @Override
    public boolean isDisposed() {
        return connection.isDisposed();
    }

    @Override
    public Channel channel() {
        return connection.channel();
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
    public Connection markPersistent(boolean persistent) {
        connection.markPersistent(persistent);
        return this;
    }

    @Override
    public Connection addHandlerLast(ChannelHandler handler) {
        connection.addHandlerLast(handler);
        return this;
    }

    @Override
    public Connection addHandlerLast(String name, ChannelHandler handler) {
        connection.addHandlerLast(name, handler);
        return this;
    }

    @Override
    public Connection addHandlerFirst(ChannelHandler handler) {
        connection.addHandlerFirst(handler);
        return this;
    }

    @Override
    public Connection addHandlerFirst(String name, ChannelHandler handler) {
        connection.addHandlerFirst(name, handler);
        return this;
    }

    @Override
    public Connection removeHandler(String name) {
        connection.removeHandler(name);
        return this;
    }

    @Override
    public Connection replaceHandler(String name, ChannelHandler handler) {
        connection.replaceHandler(name, handler);
        return this;
    }

    @Override
    public Connection onDispose(Disposable task) {
        connection.onDispose(task);
        return this;
    }

    @Override
    public Connection onReadIdle(long millis, Runnable task) {
        connection.onReadIdle(millis, task);
        return this;
    }

    @Override
    public Connection onWriteIdle(long millis, Runnable task) {
        connection.onWriteIdle(millis, task);
        return this;
    }
}
