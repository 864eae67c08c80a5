package io.fairgate.spring.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;

/**
 * Awaits {@code 101 Switching Protocols} on the connection of a handshake to the upstream, and keeps the bytes behind it until a
 * {@link TunnelEnd} takes its place. Reactor Netty gets only the headers of that response: for it the response does not end, so
 * it does not reuse the connection. It runs on the event loop of the connection.
 */
final class AwaitedSwitch extends ChannelInboundHandlerAdapter {

    private static final String NAME = "fairgate.awaitedSwitch";

    private boolean hasSwitched;
    /** On the heap: it need not be released if no tunnel begins. */
    private final ByteBuf kept = Unpooled.buffer(0);

    private AwaitedSwitch() {}

    static void addTo(Channel upstream) {
        upstream.pipeline().addBefore(NettyPipeline.ReactiveBridge, NAME, new AwaitedSwitch());
    }

    static @Nullable AwaitedSwitch on(Channel upstream) {
        return (AwaitedSwitch) upstream.pipeline().get(NAME);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (hasSwitched) {
            keep(part);
            return;
        }
        if (part instanceof HttpResponse response) {
            hasSwitched = response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
            if (hasSwitched) {
                TunnelEnd.allowHalfClosure(context.channel());
            } else if (response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
                context.pipeline().remove(this); // The connection may be reused.
            }
        }
        context.fireChannelRead(part);
    }

    /** Other parts than bytes are the end of the response, which is empty. */
    private void keep(Object part) {
        if (part instanceof ByteBuf bytes) {
            kept.writeBytes(bytes);
        }
        ReferenceCountUtil.release(part);
    }

    /** The end of the upstream's output is seen when the tunnel begins. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!hasSwitched) {
            context.fireUserEventTriggered(event);
        } else if (event instanceof SslCloseCompletionEvent) {
            var unused = context.close();
        }
    }

    /** Begins a tunnel. A connection that has been closed meanwhile has no handlers any more, but its last bytes are here. */
    void begin(TunnelEnd end, Channel upstream) {
        ChannelPipeline pipeline = upstream.pipeline();
        if (pipeline.context(this) != null) {
            upstream.config().setAutoClose(false); // What it sent before it stopped to read is still read.
            pipeline.addAfter(NAME, TunnelEnd.NAME, end);
            pipeline.remove(this);
            pipeline.remove(HttpClientCodec.class);
        }
        end.begin(kept);
    }
}
