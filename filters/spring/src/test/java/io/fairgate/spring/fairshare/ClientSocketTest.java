package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.netty.channel.Channel;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import org.junit.jupiter.api.Test;
import reactor.netty.Connection;

class ClientSocketTest {

    /** Its streams are closed later, each by a task of its own. */
    @Test
    void a_client_has_left_when_its_connection_is_closed_and_its_stream_is_not_yet() {
        assumeThat(Epoll.isAvailable())
                .as("Linux, whose transport can be asked for the state of a connection")
                .isTrue();
        Channel connection = new EpollSocketChannel();
        connection.unsafe().closeForcibly();
        EmbeddedChannel stream = new EmbeddedChannel(connection, DefaultChannelId.newInstance(), true, false);
        assertThat(stream.isActive()).isTrue();
        assertThat(ClientSocket.hasLeft(Connection.from(stream))).isTrue();
        stream.finishAndReleaseAll();
    }

    @Test
    void a_client_has_left_when_its_channel_is_closed() {
        EmbeddedChannel channel = new EmbeddedChannel();
        assertThat(ClientSocket.hasLeft(Connection.from(channel))).isFalse();
        var unused = channel.close();
        assertThat(ClientSocket.hasLeft(Connection.from(channel))).isTrue();
    }
}
