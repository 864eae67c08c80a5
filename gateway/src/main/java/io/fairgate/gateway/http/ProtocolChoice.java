package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.function.Consumer;
import reactor.netty.NettyPipeline;

/**
 * Waits until TLS has chosen a protocol (ALPN), and changes the pipeline if it is the wanted one. Reactor Netty adds its handlers
 * at the same event, before this handler gets it. Of several, the one that was added last comes first.
 */
final class ProtocolChoice extends ChannelInboundHandlerAdapter {

    private final String wanted;
    private final Consumer<ChannelPipeline> change;

    private ProtocolChoice(String wanted, Consumer<ChannelPipeline> change) {
        this.wanted = wanted;
        this.change = change;
    }

    /**
     * Adds it to a pipeline whose protocol TLS will choose.
     *
     * @param wanted the name of a handler that Reactor Netty adds for the wanted protocol
     */
    static void await(ChannelPipeline pipeline, String wanted, Consumer<ChannelPipeline> change) {
        if (pipeline.get(NettyPipeline.H2OrHttp11Codec) != null) {
            pipeline.addAfter(NettyPipeline.H2OrHttp11Codec, null, new ProtocolChoice(wanted, change));
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        boolean isChoice = event instanceof SslHandshakeCompletionEvent;
        if (isChoice && context.pipeline().get(wanted) != null) {
            change.accept(context.pipeline());
        }
        context.fireUserEventTriggered(event);
        if (isChoice) {
            context.pipeline().remove(this);
        }
    }
}
