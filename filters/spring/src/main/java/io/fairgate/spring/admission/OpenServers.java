package io.fairgate.spring.admission;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http2.Http2FrameCodec;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import reactor.netty.DisposableServer;
import reactor.netty.channel.ChannelOperations;
import reactor.netty.http.server.HttpServer;

/**
 * The servers of the application that serve routes, and their connections. A shutdown closes the listening sockets early, and this
 * lifecycle then waits for the connections in the phase in which Boot would: once a listening socket is closed, Boot does not.
 */
final class OpenServers implements SmartLifecycle {

    private final boolean waits;
    private final Set<DisposableServer> servers = ConcurrentHashMap.newKeySet();
    private final ChannelGroup connections;
    private volatile boolean closing;
    private volatile boolean running;

    OpenServers(LateConnections late) {
        connections = late.open();
        waits = !late.areExpected();
    }

    /** Remembers the server when it has bound its port, and its connections until they are closed. */
    HttpServer remember(HttpServer server) {
        return server.doOnBound(servers::add).doOnChannelInit((observer, channel, address) -> remember(channel));
    }

    private void remember(Channel connection) {
        if (connection.parent() instanceof ServerChannel) {
            connections.add(connection);
            if (closing) {
                close(connection); // It was accepted while the listening socket was closed.
            }
        }
    }

    /**
     * Closes the listening sockets and the connections on which no exchange is under way, as RFC 9112, 9.5 allows, and each of the others
     * when its exchange has ended.
     */
    void close() {
        closing = true;
        servers.forEach(DisposableServer::dispose);
        connections.forEach(connection -> connection.eventLoop().execute(() -> closeWhenIdle(connection)));
    }

    private static void closeWhenIdle(Channel connection) {
        ChannelOperations<?, ?> exchange = ChannelOperations.get(connection);
        boolean isHttp2 = connection.pipeline().get(Http2FrameCodec.class) != null;
        if (exchange == null || isHttp2) {
            close(connection); // With HTTP/2, when the last stream has ended.
        } else {
            var unused =
                    exchange.onTerminate().doFinally(end -> close(connection)).subscribe();
        }
    }

    private static void close(Channel connection) {
        var unused = connection.close();
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable whenDone) {
        running = false;
        close();
        if (waits) {
            // Not the futures of closing them: that of a connection with HTTP/2 never completes when its client has
            // left.
            var unused = connections.newCloseFuture().addListener(end -> whenDone.run());
        } else {
            whenDone.run();
        }
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE;
    }
}
