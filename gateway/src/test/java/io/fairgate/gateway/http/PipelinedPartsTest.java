package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.netty.NettyPipeline;

/** Parts of requests that come before the response to the request before, on a channel without a network. */
class PipelinedPartsTest {

    /** Counts the reads that reach the connection. */
    private static final class Reads extends ChannelDuplexHandler {
        private int count;

        @Override
        public void read(ChannelHandlerContext context) {
            count++;
            context.read();
        }
    }

    private final Reads reads = new Reads();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<String> passed = new ArrayList<>();

    @BeforeEach
    void start() {
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(reads).addLast(NettyPipeline.HttpTrafficHandler, new ChannelInboundHandlerAdapter());
        PipelinedRequests.addTo(channel.pipeline());
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }

    private void request(String path, HttpContent... body) {
        channel.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, path));
        for (HttpContent part : body) {
            channel.writeInbound(part);
        }
        channel.writeInbound(new DefaultLastHttpContent());
        note();
    }

    private static HttpContent part(int bytes) {
        return new DefaultHttpContent(Unpooled.buffer(bytes).writerIndex(bytes));
    }

    /** What has come through. */
    private void note() {
        for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
            if (part instanceof HttpRequest request) {
                passed.add(request.uri());
            } else if (part instanceof LastHttpContent) {
                passed.add("end");
            } else {
                passed.add("" + ((HttpContent) part).content().readableBytes());
            }
            ReferenceCountUtil.release(part);
        }
    }

    private void answer() {
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        channel.writeOutbound(new DefaultLastHttpContent());
        channel.runPendingTasks();
        note();
    }

    @Test
    void the_next_request_passes_after_the_end_of_the_response_before() {
        request("/1", part(3));
        request("/2", part(4), part(5));
        request("/3");
        assertThat(passed).containsExactly("/1", "3", "end");
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        channel.writeOutbound(new DefaultLastHttpContent());
        channel.runPendingTasks();
        note();
        assertThat(passed).as("after an interim response").hasSize(3);
        answer();
        assertThat(passed).containsExactly("/1", "3", "end", "/2", "4", "5", "end");
        answer();
        assertThat(passed).endsWith("end", "/3", "end");
        answer();
        request("/4");
        assertThat(passed).endsWith("/4", "end");
    }

    @Test
    void the_rest_of_a_request_passes_after_its_response() {
        channel.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/1"));
        answer();
        channel.writeInbound(part(3));
        channel.writeInbound(new DefaultLastHttpContent());
        note();
        request("/2");
        assertThat(passed).containsExactly("/1", "3", "end", "/2", "end");
    }

    @Test
    void no_more_is_read_while_much_waits_and_then_again() {
        request("/1");
        request("/2", part(60_000));
        channel.read();
        assertThat(reads.count).isOne();
        request("/3", part(5_536));
        channel.read();
        channel.read();
        assertThat(reads.count).isOne();
        answer();
        assertThat(reads.count).isEqualTo(2);
        channel.read();
        assertThat(reads.count).isEqualTo(3);
    }

    @Test
    void small_parts_are_counted_by_what_they_take() {
        request("/1");
        for (int i = 0; i < 100; i++) {
            request("/next", part(1));
        }
        channel.read();
        assertThat(reads.count).isZero();
    }

    /** The client has not read all of the response, so its end is in the buffer of the connection. */
    @Test
    void the_next_request_waits_until_the_response_before_has_been_sent() {
        List<ChannelPromise> unsent = new ArrayList<>();
        channel.pipeline().addFirst(new ChannelDuplexHandler() {
            @Override
            public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
                unsent.add(promise);
            }
        });
        request("/1");
        var unused1 = channel.writeOneOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        var unused2 = channel.writeOneOutbound(new DefaultLastHttpContent());
        request("/2");
        assertThat(passed).containsExactly("/1", "end");
        unsent.forEach(ChannelPromise::setSuccess);
        channel.runPendingTasks();
        note();
        assertThat(passed).endsWith("/2", "end");
    }

    @Test
    void after_a_change_of_protocol_everything_passes() {
        channel.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/ws"));
        channel.writeInbound(new DefaultLastHttpContent());
        channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS));
        assertThat(channel.pipeline().get(PipelinedRequests.class)).isNull();
    }

    @Test
    void what_waits_is_released_when_the_connection_ends() {
        HttpContent waiting = part(10);
        request("/1");
        request("/2", waiting);
        var unused = channel.close();
        channel.runPendingTasks();
        assertThat(waiting.refCnt()).isZero();
    }
}
