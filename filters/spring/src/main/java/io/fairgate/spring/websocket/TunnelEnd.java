package io.fairgate.spring.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One end of a {@link Tunnel}: passes the bytes of its connection to the connection of the other end, and reads no more while
 * that one has enough to send. It runs on the event loop of its own connection, except {@link #resume}.
 */
final class TunnelEnd extends ChannelInboundHandlerAdapter {

    static final String NAME = "fairgate.tunnel";

    private final Tunnel tunnel;
    private final Channel own;
    private final Channel to;

    /** On the heap: it need not be released if this end does not begin. */
    private final ByteBuf early = Unpooled.buffer(0);

    /** More is read when the other connection has sent enough. */
    private final AtomicBoolean isReadDue = new AtomicBoolean();

    private boolean hasBegun;
    private boolean hasEnded;

    TunnelEnd(Tunnel tunnel, Channel own, Channel to) {
        this.tunnel = tunnel;
        this.own = own;
        this.to = to;
    }

    /** Begins to pass on bytes: first those that came early. */
    void begin(ByteBuf earlier) {
        hasBegun = true;
        var unused = to.writeAndFlush(Unpooled.wrappedBuffer(earlier, early));
        if (!own.isActive() || isInputShutdown()) {
            end();
        } else {
            allowHalfClosure(own);
            readMore();
        }
    }

    /** Whether bytes came before this end has begun to pass them on. */
    boolean hasEarlyBytes() {
        return early.isReadable();
    }

    private boolean isInputShutdown() {
        return own instanceof DuplexChannel duplex && duplex.isInputShutdown();
    }

    static void allowHalfClosure(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, mayBeHalfClosed(channel));
    }

    /** A connection with TLS ends in both directions. */
    private static boolean mayBeHalfClosed(Channel channel) {
        return channel instanceof DuplexChannel && channel.pipeline().get(SslHandler.class) == null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (hasBegun && part instanceof ByteBuf) {
            tunnel.passes();
            var unused = to.write(part);
            return;
        }
        if (part instanceof ByteBuf bytes) {
            early.writeBytes(bytes);
        }
        ReferenceCountUtil.release(part); // Other parts than bytes are what was left of the handshake.
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (hasBegun) {
            to.flush();
            readMore();
        }
    }

    private void readMore() {
        if (!hasEnded) {
            isReadDue.set(true);
            if (to.isWritable()) {
                resume();
            }
        }
    }

    /** Reads more if this has been put off. */
    void resume() {
        if (isReadDue.compareAndSet(true, false)) {
            own.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (own.isWritable()) {
            tunnel.opposite(this).resume();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent && hasBegun) {
            end();
        } else if (event instanceof SslCloseCompletionEvent) {
            var unused = context.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (hasBegun) {
            end();
        }
        tunnel.closed(this, context);
    }

    /** The connection was reset, or what came is no TLS. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
        var unused = context.close();
    }

    /**
     * No more bytes come from this connection. The other one ends its output when it has sent what came before, and is closed
     * if this connection is closed, or if nothing comes from the other one either.
     */
    private void end() {
        boolean areBothOver = !hasEnded && tunnel.ends();
        hasEnded = true;
        boolean inBothDirections = areBothOver || !own.isActive() || !mayBeHalfClosed(to);
        ChannelFutureListener next = inBothDirections ? ChannelFutureListener.CLOSE : TunnelEnd::endOutput;
        var unused = to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(next);
    }

    private static void endOutput(ChannelFuture sent) {
        var unused = ((DuplexChannel) sent.channel()).shutdownOutput();
    }
}
