package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.spring.pace.SlowReaderException;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.ReadTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.netty.NettyPipeline;

/** In the time of a channel that has no network. */
class UpstreamBodyIdleTimeoutTest {

    private static final HttpResponse HEAD = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);

    private UpstreamBodyIdleTimeout timeout =
            new UpstreamBodyIdleTimeout(Duration.ofSeconds(30), Duration.ofMinutes(5));
    private final EmbeddedChannel upstream = new EmbeddedChannel();

    /** Reports the headers, as the HTTP client does. */
    private final class Bridge extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object part) {
            if (part instanceof HttpResponse) {
                timeout.begin(context.pipeline());
            }
            context.fireChannelRead(part);
        }
    }

    @BeforeEach
    void start() {
        upstream.pipeline().addLast(NettyPipeline.ReactiveBridge, new Bridge());
        upstream.freezeTime();
    }

    @AfterEach
    void close() {
        upstream.finishAndReleaseAll();
    }

    private void pass(int seconds) {
        upstream.advanceTimeBy(seconds, TimeUnit.SECONDS);
        upstream.runScheduledPendingTasks();
    }

    private void sendPart() {
        upstream.writeInbound(new DefaultHttpContent(Unpooled.EMPTY_BUFFER));
    }

    private void assertStalled() {
        assertClosedWith(ReadTimeoutException.class);
    }

    private void assertClosedWith(Class<? extends Exception> failure) {
        assertThat(upstream.isActive()).isFalse();
        assertThatThrownBy(upstream::checkException).isInstanceOf(failure);
    }

    /** The gateway reads no more, because the client takes nothing. */
    private void stopReading() {
        upstream.config().setAutoRead(false);
        sendPart();
    }

    @Test
    void a_body_that_does_not_begin_closes_the_connection() {
        upstream.writeInbound(HEAD);
        pass(29);
        assertThat(upstream.isActive()).isTrue();
        pass(1);
        assertStalled();
    }

    @Test
    void each_part_of_a_body_begins_the_time_again() {
        upstream.writeInbound(HEAD);
        for (int part = 0; part < 5; part++) {
            pass(29);
            sendPart();
        }
        assertThat(upstream.isActive()).isTrue();
        pass(30);
        assertStalled();
    }

    @Test
    void an_upstream_that_is_not_read_need_not_send() {
        upstream.writeInbound(HEAD);
        for (int pause = 0; pause < 5; pause++) {
            stopReading();
            pass(30);
            pass(269);
            assertThat(upstream.isActive()).isTrue();
            upstream.read();
            pass(29);
        }
        assertThat(upstream.isActive()).isTrue();
        pass(1);
        assertStalled();
    }

    @Test
    void an_upstream_that_is_not_read_for_very_long_is_closed() {
        upstream.writeInbound(HEAD);
        stopReading();
        pass(30);
        pass(269);
        assertThat(upstream.isActive()).isTrue();
        pass(1);
        assertClosedWith(SlowReaderException.class);
    }

    @Test
    void a_client_may_take_nothing_for_any_time_if_the_operator_says_so() {
        timeout = new UpstreamBodyIdleTimeout(Duration.ofSeconds(30), Duration.ZERO);
        upstream.writeInbound(HEAD);
        stopReading();
        pass(30);
        pass(3600);
        assertThat(upstream.isActive()).isTrue();
        upstream.read();
        pass(30);
        assertStalled();
    }

    @Test
    void a_connection_without_a_response_may_be_idle() {
        upstream.writeInbound(HEAD);
        upstream.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        pass(3600);
        assertThat(upstream.isActive()).isTrue();
        assertThatCode(upstream::checkException).doesNotThrowAnyException();
    }

    @Test
    void the_next_response_on_the_connection_is_bounded_as_well() {
        upstream.writeInbound(HEAD);
        upstream.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        pass(20);
        upstream.writeInbound(HEAD);
        pass(29);
        assertThat(upstream.isActive()).isTrue();
        pass(1);
        assertStalled();
    }

    @Test
    void a_whole_response_in_one_part_has_no_body_to_wait_for() {
        upstream.writeInbound(HEAD);
        upstream.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        upstream.writeInbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        pass(3600);
        assertThat(upstream.isActive()).isTrue();
    }

    @Test
    void a_closed_connection_leaves_no_timer() {
        upstream.writeInbound(HEAD);
        upstream.unsafe().close(upstream.newPromise()); // Without the clearing up of a channel for tests.
        assertThat(upstream.runScheduledPendingTasks()).isNegative();
    }
}
