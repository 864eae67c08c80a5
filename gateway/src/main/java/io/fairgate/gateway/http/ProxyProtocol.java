package io.fairgate.gateway.http;

import io.fairgate.policy.IpAddress;
import io.fairgate.spring.exchange.ClientConnection;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.http.server.HttpServer;

/**
 * Reads the header of the PROXY protocol, version 1 or 2, with which a load balancer begins a connection, and has the connection count as
 * one from the address that it names. A connection that begins otherwise is closed: what a client behind a load balancer sends could look
 * like such a header.
 */
public final class ProxyProtocol extends ChannelInboundHandlerAdapter {

    /** {@code ClientFaults} limits its messages. */
    private static final Logger log = LoggerFactory.getLogger(ProxyProtocol.class);

    private final Duration most;
    private @Nullable Future<?> end;
    private boolean isRefused;

    private ProxyProtocol(Duration most) {
        this.most = most;
    }

    /**
     * Adds it to the connections of a server.
     *
     * @param senders the addresses from which connections begin with a header, asked for each connection
     * @param most how long the header may take
     */
    public static HttpServer from(HttpServer server, Predicate<InetAddress> senders, Duration most) {
        return server.doOnChannelInit((observer, channel, remote) -> {
            if (channel.remoteAddress() instanceof InetSocketAddress peer && senders.test(peer.getAddress())) {
                addTo(channel.pipeline(), most);
            }
        });
    }

    /** Before all other handlers, also before TLS. */
    private static void addTo(ChannelPipeline pipeline, Duration most) {
        pipeline.addFirst("fairgate.proxy-protocol", new ProxyProtocol(most));
        pipeline.addFirst("fairgate.proxy-protocol-decoder", new HAProxyMessageDecoder());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        end = context.executor().schedule(() -> refuse(context, null), most.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        Objects.requireNonNull(end).cancel(false);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (part instanceof HAProxyMessage header) {
            note(context, header);
            header.release();
            context.read(); // The other handlers ask for more only after they have got something.
            context.pipeline().remove(this);
        } else {
            context.fireChannelRead(part);
        }
    }

    /** A header with another command, or without an IP address, is about the connection itself, such as a health check. */
    private static void note(ChannelHandlerContext context, HAProxyMessage header) {
        InetAddress source = header.sourceAddress() == null ? null : IpAddress.parse(header.sourceAddress());
        if (header.command() == HAProxyCommand.PROXY && source != null) {
            ClientConnection.setPeer(context.channel(), new InetSocketAddress(source, header.sourcePort()));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
        if (failure instanceof DecoderException) {
            refuse(context, failure);
        } else {
            context.fireExceptionCaught(failure);
        }
    }

    /** @param failure null if the header has not come in time */
    private void refuse(ChannelHandlerContext context, @Nullable Throwable failure) {
        if (!isRefused) { // The decoder goes on with the rest when the connection is closed.
            isRefused = true;
            log.warn(
                    "The connection is closed.",
                    new DecoderException(
                            "a connection from %s, which proxy-protocol names, did not begin with a header of the PROXY protocol"
                                    .formatted(context.channel().remoteAddress()),
                            failure));
            var unused = context.close();
        }
    }
}
