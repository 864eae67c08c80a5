package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.netty.NettyPipeline;

/** One stream, on a channel without a network. */
class BrokenStreamsTest {

    private final EmbeddedChannel stream = new EmbeddedChannel();

    @BeforeEach
    void start() {
        stream.pipeline().addLast(NettyPipeline.H2ToHttp11Codec, new ChannelInboundHandlerAdapter());
        BrokenStreams.addTo(stream);
        stream.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {}
        });
    }

    @AfterEach
    void end() {
        stream.finishAndReleaseAll();
    }

    private static Http2Exception broken() {
        return Http2Exception.streamError(1, Http2Error.PROTOCOL_ERROR, "for the test");
    }

    private void assertSaid(HttpResponseStatus status) {
        Object part = stream.readOutbound();
        assertThat(part)
                .isInstanceOfSatisfying(
                        HttpResponse.class,
                        response -> assertThat(response.status()).isEqualTo(status));
        ReferenceCountUtil.release(part);
    }

    @Test
    void a_broken_stream_is_answered_once() {
        stream.pipeline().fireExceptionCaught(broken());
        assertSaid(HttpResponseStatus.BAD_REQUEST);
        FullHttpResponse second =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.INTERNAL_SERVER_ERROR);
        ChannelFuture written = stream.writeAndFlush(second);
        assertThat(written.isSuccess()).isFalse();
        assertThat(second.refCnt()).isZero();
        assertThat(stream.<Object>readOutbound()).isNull();
    }

    @Test
    void an_answer_that_has_begun_stays_the_only_one() {
        stream.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        assertSaid(HttpResponseStatus.OK);
        stream.pipeline().fireExceptionCaught(broken());
        assertThat(stream.<Object>readOutbound()).isNull();
    }

    @Test
    void an_interim_response_is_no_answer() {
        stream.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        assertSaid(HttpResponseStatus.CONTINUE);
        stream.pipeline().fireExceptionCaught(broken());
        assertSaid(HttpResponseStatus.BAD_REQUEST);
    }

    @ParameterizedTest
    @EnumSource(value = Http2Error.class, names = "PROTOCOL_ERROR", mode = EnumSource.Mode.EXCLUDE)
    void other_errors_are_not_of_the_request(Http2Error error) {
        stream.pipeline().fireExceptionCaught(Http2Exception.streamError(1, error, "for the test"));
        assertThat(stream.<Object>readOutbound()).isNull();
    }
}
