package io.fairgate.spring.pace;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.RawUnixChannelOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * How many bytes the other end of a TCP connection has acknowledged. Only Linux's native transport (epoll) can tell.
 *
 * <p>What the operating system takes from a connection would say less: its buffer takes megabytes at once, and then nothing until a third of
 * it is free, so that a client with 20 KB a second would look as if it read nothing for a minute.
 */
final class AcknowledgedBytes {

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_INFO = 11;

    /** The place of {@code tcpi_bytes_acked} in {@code struct tcp_info} (Linux, {@code include/uapi/linux/tcp.h}). */
    private static final int BYTES_ACKED = 120;

    static final RawUnixChannelOption INFO =
            new RawUnixChannelOption("fairgate.tcp-info", IPPROTO_TCP, TCP_INFO, BYTES_ACKED + Long.BYTES);

    private AcknowledgedBytes() {}

    /** Empty on another transport, and when the connection is closed. */
    static OptionalLong of(Channel connection) {
        try {
            ByteBuffer info = connection.config().getOption(INFO);
            return info == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(info.order(ByteOrder.nativeOrder()).getLong(BYTES_ACKED));
        } catch (ChannelException closed) {
            return OptionalLong.empty();
        }
    }
}
