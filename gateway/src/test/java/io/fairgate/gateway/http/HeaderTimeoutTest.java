package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/** Slow headers, on a channel without a network and with virtual time, and once on a server. */
class HeaderTimeoutTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();

    @BeforeEach
    void start() {
        channel.freezeTime();
        channel.pipeline().addLast(NettyPipeline.HttpCodec, new HttpServerCodec());
        HeaderTimeout.addTo(channel.pipeline(), Duration.ofSeconds(10));
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
            ReferenceCountUtil.release(part);
        }
    }

    private void answer() {
        channel.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
    }

    private void pass(int seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void a_line_end_after_a_body_begins_no_request() {
        send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
        answer();
        send("\r\n");
        pass(60);
        assertThat(channel.isOpen()).isTrue();
        assertCutWhenItDrips("\r\nG");
    }

    private void assertCutWhenItDrips(String start) {
        send(start);
        for (int i = 0; i < 9; i++) {
            pass(1);
            send("x");
        }
        assertThat(channel.isOpen()).isTrue();
        pass(1);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void slow_headers_are_cut_off_even_if_they_arrive_steadily() {
        assertCutWhenItDrips("GET / HTTP/1.1\r\nHost: ");
    }

    @Test
    void slow_headers_of_a_later_request_are_cut_off_too() {
        send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nab");
        send("cGET / HT");
        answer();
        pass(5);
        assertCutWhenItDrips("TP/1.1\r\nHost: ");
    }

    @Test
    void complete_requests_and_idle_connections_are_not_cut_off() {
        pass(3600);
        send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        pass(3600);
        send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nab");
        pass(3600);
        send("c");
        pass(3600);
        assertThat(channel.isOpen()).as("bodies have another bound").isTrue();
    }

    @Test
    void after_a_change_of_protocol_it_is_gone() {
        send("GET / HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS));
        assertThat(channel.pipeline().get(HeaderTimeout.class)).isNull();
        assertThat(channel.pipeline().names()).noneMatch(name -> name.startsWith("fairgate."));
    }

    /** What comes behind a request that is being answered may not be read at all meanwhile. */
    @Test
    void the_next_headers_have_time_until_the_request_before_is_answered() {
        send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        send("GET / HT");
        pass(3605);
        assertThat(channel.isOpen()).isTrue();
        answer();
        pass(10);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void a_closed_connection_leaves_nothing_behind() {
        send("GET / HT");
        channel.pipeline().fireChannelInactive(); // as a close, but without ending all timers of this channel
        assertThat(channel.runScheduledPendingTasks()).as("no timer is left").isEqualTo(-1);
    }

    @Test
    void all_servers_have_the_header_timeout() throws Exception {
        DisposableServer server = HttpListener.bounded(HttpServer.create(), Duration.ofMillis(50))
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.send())
                .bindNow();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.setSoTimeout(30_000); // half of what an idle connection has
            client.getOutputStream().write("GET / HT".getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        } finally {
            server.disposeNow();
        }
    }
}
