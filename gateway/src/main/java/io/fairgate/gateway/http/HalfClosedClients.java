package io.fairgate.gateway.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.CleartextHttp2ServerUpgradeHandler.PriorKnowledgeUpgradeEvent;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Serves a client that closes its side of the connection after a complete request and waits for the answer.
 *
 * <p>TCP sends the same, a FIN, for a client that will send nothing more and for one that has gone. Only sending something
 * tells them apart: the system of a client that has gone answers with a reset. So a client that waits for its answer is sent
 * {@code 100 Continue}, which every client of HTTP/1.1 must be able to ignore. It is sent again after a while, because a
 * reset is noticed only by the next write. A FIN in the middle of the answer means that the client has left, unless the
 * rest of the answer follows without a pause. Decision 0029 has the rule and the alternatives that were rejected.
 *
 * <p>It is placed after the codec of a connection without TLS. It runs on the event loop only.
 */
public final class HalfClosedClients extends ChannelDuplexHandler {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    /** The longest pause of an answer after a FIN in the middle of it. */
    private static final Duration PAUSE_OF_ANSWER = Duration.ofMillis(500);

    private int unanswered;
    private boolean wholeRequest;
    private boolean mayBeContinued;
    private boolean answering;
    private boolean halfClosed;
    private long sent;

    private HalfClosedClients() {}

    /** Adds it to all HTTP/1.1 connections of the server without TLS. */
    public static HttpServer servedBy(HttpServer server) {
        return Http1Pipelines.change(server, HalfClosedClients::addTo);
    }

    private static void addTo(ChannelPipeline pipeline) {
        if (pipeline.get(NettyPipeline.SslHandler) == null) {
            pipeline.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
            Http1Pipelines.add(pipeline, "fairgate.halfClosed", new HalfClosedClients());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (part instanceof HttpRequest request) {
            unanswered++;
            wholeRequest = false;
            mayBeContinued = request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) >= 0;
        }
        if (part instanceof LastHttpContent) {
            wholeRequest = true;
        }
        context.fireChannelRead(part);
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        sent++;
        if (part instanceof HttpResponse response) {
            if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
                leaveToNetty(context);
            }
            answering = response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
        }
        if (part instanceof LastHttpContent && answering) {
            answering = false;
            unanswered--;
            if (halfClosed && unanswered == 0) {
                var unused = context.write(part, promise.unvoid()).addListener(ChannelFutureListener.CLOSE);
                return;
            }
        }
        var unused = context.write(part, promise);
    }

    /** No more input follows. Netty's epoll transport closes a connection that is read from after its end (4.2.18). */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!halfClosed) {
            context.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof PriorKnowledgeUpgradeEvent) {
            leaveToNetty(context);
        } else if (event instanceof ChannelInputShutdownEvent) {
            inputEnded(context);
        }
        context.fireUserEventTriggered(event);
    }

    /** Removes this handler: the connection is closed as soon as the client closes its side. */
    private void leaveToNetty(ChannelHandlerContext context) {
        unanswered = 0;
        context.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        context.pipeline().remove(this);
    }

    private void inputEnded(ChannelHandlerContext context) {
        if (unanswered == 0 || !wholeRequest || !mayBeContinued) {
            var unused = context.close();
            return;
        }
        halfClosed = true;
        if (answering) {
            closeWhenQuiet(context, sent);
        } else {
            probe(context, FIRST_PAUSE);
        }
    }

    private void closeWhenQuiet(ChannelHandlerContext context, long sentBefore) {
        after(context, PAUSE_OF_ANSWER, () -> {
            if (!answering) {
                // The answer to the client's next request has not begun.
                probe(context, FIRST_PAUSE);
            } else if (sent == sentBefore) {
                var unused = context.close();
            } else {
                closeWhenQuiet(context, sent);
            }
        });
    }

    /** Repeats until the answer begins, which is itself a probe. */
    private void probe(ChannelHandlerContext context, Duration pause) {
        var unused =
                context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        Duration next = pause.multipliedBy(2);
        after(context, pause, () -> {
            if (!answering) {
                probe(context, next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE);
            }
        });
    }

    private void after(ChannelHandlerContext context, Duration pause, Runnable step) {
        Runnable unlessOver = () -> {
            if (context.channel().isActive() && unanswered > 0) {
                step.run();
            }
        };
        var unused = context.executor().schedule(unlessOver, pause.toNanos(), TimeUnit.NANOSECONDS);
    }
}
