package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.MovingDeadline;
import io.fairgate.spring.pace.SlowReaderException;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
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
 *
 * <p>The upstream cannot send while it is not read, because the client takes nothing. That may last longer: a client that reads slowly and
 * steadily takes megabytes at once, when a third of the operating system's buffer for it is free again.
 *
 * @param idle the longest time in which the upstream sends nothing and is asked to
 * @param unread the longest time in which the upstream is not read; 0 for any time
 */
record UpstreamBodyIdleTimeout(Duration idle, Duration unread) implements HttpClientCustomizer {

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
            Handler added = new Handler(idle.toNanos(), unread.toNanos());
            upstream.addBefore(NettyPipeline.ReactiveBridge, HANDLER, added);
            added.begin();
        }
    }

    /** As Netty's {@code ReadTimeoutHandler}, but between the headers and the end of a body only, and while it is read. */
    private static final class Handler extends ChannelDuplexHandler {

        private final long idleNanos;
        private final long unreadNanos;
        private boolean inBody;
        /** Nothing has come since the latest read. */
        private boolean isAsked;
        /** The upstream has been left unread for the time in which it could have sent. */
        private boolean isUnread;

        private @Nullable MovingDeadline deadline;

        Handler(long idleNanos, long unreadNanos) {
            this.idleNanos = idleNanos;
            this.unreadNanos = unreadNanos;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            deadline = new MovingDeadline(context.executor(), () -> reached(context));
        }

        private void reached(ChannelHandlerContext context) {
            if (isAsked) {
                end(context, ReadTimeoutException.INSTANCE);
            } else if (isUnread) {
                end(context, new SlowReaderException());
            } else {
                isUnread = true;
                if (unreadNanos > 0) {
                    deadline().set(Math.max(1, unreadNanos - idleNanos));
                }
            }
        }

        private void end(ChannelHandlerContext context, Exception failure) {
            inBody = false;
            context.fireExceptionCaught(failure);
            var unused = context.close();
        }

        void begin() {
            inBody = true;
            ask();
        }

        private void ask() {
            isAsked = true;
            isUnread = false;
            deadline().set(idleNanos);
        }

        @Override
        public void read(ChannelHandlerContext context) {
            if (inBody) {
                ask();
            }
            context.read();
        }

        private MovingDeadline deadline() {
            return Objects.requireNonNull(deadline);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object part) {
            isAsked = false;
            boolean isLast = part instanceof LastHttpContent;
            context.fireChannelRead(part);
            if (isLast) { // Also when the headers and the end have come as one part.
                inBody = false;
                deadline().clear();
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            deadline().stop();
        }
    }
}
