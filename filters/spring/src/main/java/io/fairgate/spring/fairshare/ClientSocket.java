package io.fairgate.spring.fairshare;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
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
        return socket instanceof EpollSocketChannel epoll && hasLeft(epoll);
    }

    private static boolean hasLeft(EpollSocketChannel socket) {
        try {
            int state = socket.tcpInfo().state();
            return state == CLOSE || (state == CLOSE_WAIT && !socket.config().isAllowHalfClosure());
        } catch (ChannelException e) {
            return true; // The gateway has just closed the connection; its streams close later.
        }
    }
}
