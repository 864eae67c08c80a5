package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.MovingDeadline;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.ReadTimeoutException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.client.HttpClient;

/**
 * Limits how long an upstream may send nothing in the middle of a body, but not of a WebSocket. The gateway's own
 * {@code response-timeout} ends with the headers, so a stalled upstream would hold its permit until {@code max-hold}.
 */
record UpstreamBodyIdleTimeout(Duration idle) implements HttpClientCustomizer {

    private static final String HANDLER = "fairgate.body-idle";

    @Override
    public HttpClient customize(HttpClient client) {
        return client.doOnResponse((response, upstream) -> {
            if (!response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
                begin(upstream.channel().pipeline());
            }
        });
    }

    /**
     * The headers of a response have come on this connection, and no part of its body. The handler stays on a connection
     * that the pool keeps, because to add one takes longer than all that it does.
     */
    void begin(ChannelPipeline upstream) {
        if (upstream.get(HANDLER) instanceof Handler known) {
            known.begin();
        } else {
            Handler added = new Handler(idle.toNanos());
            upstream.addBefore(NettyPipeline.ReactiveBridge, HANDLER, added);
            added.begin();
        }
    }

    /** As Netty's {@code ReadTimeoutHandler}, but between the headers and the end of a body only. */
    private static final class Handler extends ChannelInboundHandlerAdapter {

        private final long idleNanos;
        private boolean inBody;
        private @Nullable MovingDeadline deadline;

        Handler(long idleNanos) {
            this.idleNanos = idleNanos;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            deadline = new MovingDeadline(context.executor(), () -> timeOut(context));
        }

        private void timeOut(ChannelHandlerContext context) {
            inBody = false;
            context.fireExceptionCaught(ReadTimeoutException.INSTANCE);
            var unused = context.close();
        }

        void begin() {
            inBody = true;
            deadline().set(idleNanos);
        }

        private MovingDeadline deadline() {
            return Objects.requireNonNull(deadline);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object part) {
            boolean isLast = part instanceof LastHttpContent;
            context.fireChannelRead(part);
            if (isLast) { // Also when the headers and the end have come as one part.
                inBody = false;
                deadline().clear();
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (inBody) {
                deadline().set(idleNanos);
            }
            context.fireChannelReadComplete();
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            deadline().stop();
        }
    }
}
