package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.netty.NettyPipeline;

/** In the time of a channel that has no network. */
class IdleConnectionsTest {

    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    private final EmbeddedChannel channel = new EmbeddedChannel();

    @BeforeEach
    void start() {
        channel.freezeTime();
        channel.pipeline()
                .addLast(NettyPipeline.HttpCodec, new HttpServerCodec())
                .addLast(NettyPipeline.HttpTrafficHandler, new ChannelInboundHandlerAdapter());
        IdleConnections.addTo(channel.pipeline(), Duration.ofSeconds(60));
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    private void answer(HttpResponseStatus status) {
        DefaultFullHttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status);
        if (status.code() >= 200) {
            answer.headers().set("content-length", 0);
        }
        channel.writeOutbound(answer);
    }

    private void pass(int seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }

    private void assertClosedAfter(int seconds) {
        pass(seconds - 1);
        assertThat(channel.isActive()).isTrue();
        pass(1);
        assertThat(channel.isActive()).isFalse();
    }

    @Test
    void a_connection_without_a_request_is_closed() {
        assertClosedAfter(60);
    }

    @Test
    void a_connection_with_a_request_is_not_closed() {
        send(REQUEST);
        pass(3600);
        assertThat(channel.isActive()).isTrue();
    }

    @Test
    void the_time_begins_again_with_the_end_of_a_response() {
        pass(59);
        send(REQUEST);
        pass(59);
        answer(HttpResponseStatus.OK);
        assertClosedAfter(60);
    }

    @Test
    void an_informational_response_is_not_the_end() {
        send(REQUEST);
        answer(HttpResponseStatus.CONTINUE);
        pass(3600);
        assertThat(channel.isActive()).isTrue();
        answer(HttpResponseStatus.OK);
        assertClosedAfter(60);
    }

    @Test
    void the_last_of_several_requests_counts() {
        send(REQUEST + REQUEST);
        answer(HttpResponseStatus.OK);
        pass(3600);
        assertThat(channel.isActive()).isTrue();
        answer(HttpResponseStatus.OK);
        assertClosedAfter(60);
    }

    @Test
    void a_part_of_a_request_does_not_begin_the_time_again() {
        pass(30);
        send("GET / HTTP/1.1\r\nHost");
        assertClosedAfter(30);
    }

    @Test
    void a_response_that_the_client_has_not_read_is_not_over() {
        send(REQUEST);
        var unused = channel.write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        pass(3600);
        assertThat(channel.isActive()).isTrue();
        channel.flush();
        assertClosedAfter(60);
    }

    @Test
    void a_closed_connection_leaves_no_timer() {
        channel.unsafe().close(channel.newPromise()); // Without the clearing up of a channel for tests.
        assertThat(channel.runScheduledPendingTasks()).isNegative();
    }
}
