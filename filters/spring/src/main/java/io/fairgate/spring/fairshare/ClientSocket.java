package io.fairgate.spring.fairshare;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/**
 * Asks the operating system whether a client is still connected while nothing is read from it. Only Linux's native
 * transport (epoll) can answer; with another one, a client has left when its channel is closed. If the server allows
 * half-closed connections, a client that has closed only its own side has not left: it may have sent all before.
 */
final class ClientSocket {

    /** The state of a TCP connection that the client has reset (Linux, {@code include/net/tcp_states.h}). */
    private static final int CLOSE = 7;

    /** The state of a TCP connection that the client has closed, completely or on its own side. */
    private static final int CLOSE_WAIT = 8;

    private ClientSocket() {}

    static boolean hasLeft(@Nullable Connection connection) {
        if (connection == null) {
            return false;
        }
        Channel channel = connection.channel();
        if (!channel.isActive()) {
            return true;
        }
        Channel socket = channel.parent() instanceof EpollSocketChannel parent ? parent : channel;
        if (socket instanceof EpollSocketChannel epoll) {
            int state = epoll.tcpInfo().state();
            return state == CLOSE || (state == CLOSE_WAIT && !epoll.config().isAllowHalfClosure());
        }
        return false;
    }
}
