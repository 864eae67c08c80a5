package io.fairgate.spring;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/**
 * Asks the operating system whether a client is still there, for the case that nothing is being read from it.
 *
 * <p>Only Linux's native transport can tell. With another transport the answer is that it has not left; the maximum
 * wait bounds what that costs.
 */
final class ClientSocket {

    /** States of a TCP connection in which the client has closed it (Linux, {@code include/net/tcp_states.h}). */
    private static final int CLOSE = 7;

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
            EpollTcpInfo info = epoll.tcpInfo();
            return info.state() == CLOSE || info.state() == CLOSE_WAIT;
        }
        return false;
    }
}
