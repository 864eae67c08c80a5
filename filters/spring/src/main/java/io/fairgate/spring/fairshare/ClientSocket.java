package io.fairgate.spring.fairshare;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;

/**
 * Asks the operating system whether a client is still there, for the case that nothing is being read from it.
 *
 * <p>Only Linux's native transport can tell. With another transport the answer is that it has not left; the maximum
 * wait bounds what that costs. Where the server allows clients to close their side alone, such a client has not left: it may
 * have sent its whole request before.
 */
final class ClientSocket {

    /** The state of a TCP connection that the client has reset (Linux, {@code include/net/tcp_states.h}). */
    private static final int CLOSE = 7;

    /** The state of one whose client has closed it, or its own side of it. */
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
