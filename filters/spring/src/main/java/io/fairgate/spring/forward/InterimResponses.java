package io.fairgate.spring.forward;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.NettyPipeline;

/**
 * Drops the interim responses of an upstream, such as {@code 103 Early Hints}. Reactor Netty takes each of them but {@code
 * 100 Continue} for the response: the client would wait for the final one in vain, and the permit would be released, and
 * the connection be reused, while the upstream works and its final response is still to come.
 */
final class InterimResponses extends ChannelInboundHandlerAdapter {

    static final HttpClientCustomizer DROPPED =
            client -> client.doOnRequest((request, connection) -> addTo(connection.channel()));

    private static final String NAME = "fairgate.interimResponses";

    /** The rest of the current response is dropped as well. */
    private boolean drops;

    /** Something was dropped since the last read. The handlers behind have not seen it, and so do not ask for more. */
    private boolean hasDropped;

    private InterimResponses() {}

    private static void addTo(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        if (pipeline.get(NAME) == null) {
            pipeline.addBefore(NettyPipeline.ReactiveBridge, NAME, new InterimResponses());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse response) {
            drops = isInterim(response.status());
        }
        if (!drops) {
            context.fireChannelRead(message);
            return;
        }
        hasDropped = true;
        drops = !(message instanceof LastHttpContent);
        ReferenceCountUtil.release(message);
    }

    /** Reactor Netty handles 100 itself, and 101 is the last response over HTTP. */
    private static boolean isInterim(HttpResponseStatus status) {
        return status.codeClass() == HttpStatusClass.INFORMATIONAL
                && !status.equals(HttpResponseStatus.CONTINUE)
                && !status.equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.fireChannelReadComplete();
        if (hasDropped) {
            hasDropped = false;
            context.read();
        }
    }
}
