package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.NettyPipeline;

/** Bodies with malformed chunks, on a channel without a network. */
class BrokenBodiesTest {

    private static final String START = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    private static final String REFUSED = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private int whole;

    @BeforeEach
    void start() {
        channel.pipeline()
                .addLast(NettyPipeline.HttpCodec, new HttpServerCodec())
                .addLast(NettyPipeline.HttpTrafficHandler, new ChannelInboundHandlerAdapter());
        BrokenBodies.addTo(channel.pipeline());
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
            whole += part instanceof LastHttpContent ? 1 : 0;
            ReferenceCountUtil.release(part);
        }
    }

    private void answer(HttpResponseStatus status) {
        DefaultFullHttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status);
        if (status.code() >= 200) {
            answer.headers().set("content-length", 0);
        }
        channel.writeOutbound(answer);
    }

    private String answered() {
        List<String> all = new ArrayList<>();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            all.add(bytes.toString(StandardCharsets.US_ASCII));
            bytes.release();
        }
        return String.join("", all);
    }

    @ParameterizedTest
    @ValueSource(strings = {"zz\r\n", "3\r\nabc\r\nzz\r\n", "3\r\nabcdef\r\n", "-1\r\n", "0\r\nbad trailer\r\n\r\n"})
    void a_broken_body_is_400_and_never_ends_as_complete(String body) {
        send(START);
        send(body);
        assertThat(answered()).isEqualTo(REFUSED);
        assertThat(channel.isOpen()).isFalse();
        assertThat(whole).isZero();
    }

    @Test
    void a_complete_body_passes_also_after_another_one() {
        for (int i = 1; i <= 2; i++) {
            send(START + "3\r\nabc\r\n0\r\n\r\n");
            answer(HttpResponseStatus.OK);
            assertThat(whole).isEqualTo(i);
        }
        assertThat(channel.isOpen()).isTrue();
        answered();
        send(START + "zz\r\n");
        assertThat(answered()).isEqualTo(REFUSED);
        assertThat(channel.isOpen()).isFalse();
        assertThat(whole).isEqualTo(2);
    }

    @Test
    void after_100_continue_a_broken_body_is_still_400() {
        send(START);
        answer(HttpResponseStatus.CONTINUE);
        assertThat(answered()).startsWith("HTTP/1.1 100 ");
        send("zz\r\n");
        assertThat(answered()).isEqualTo(REFUSED);
    }

    @Test
    void an_answer_that_has_begun_is_cut_off() {
        send(START);
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        assertThat(answered()).startsWith("HTTP/1.1 200 ");
        send("zz\r\n");
        assertThat(answered()).isEmpty();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void a_broken_body_does_not_answer_an_earlier_request() {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + START + "zz\r\n");
        assertThat(answered()).isEmpty();
        assertThat(channel.isOpen()).isFalse();
        assertThat(whole).isOne();
    }
}
