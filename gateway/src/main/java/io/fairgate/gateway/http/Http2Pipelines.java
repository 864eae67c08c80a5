package io.fairgate.gateway.http;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Adds {@link FrameFloods} and {@link BrokenHeads} to the connections of a server that may speak HTTP/2, and sets its bounds
 * of resets. Without TLS they are there from the beginning, because HTTP/2 begins with its preface and the first requests
 * may come in the same read; they let HTTP/1.1 pass. With TLS they are added when HTTP/2 has been chosen.
 */
public final class Http2Pipelines {

    /**
     * Resets that the gateway may send, and how many of a client it reads, in this many seconds; then it ends the connection. It
     * resets the streams beyond the bound of streams, which a client that has not read the settings yet cannot know.
     */
    private static final int MOST_RESETS_SENT = 2_000;

    private static final int MOST_RESETS_READ = 200;
    private static final int SECONDS = 30;

    private Http2Pipelines() {}

    public static HttpServer bounded(HttpServer server) {
        return server.http2Settings(settings -> settings.maxEncodedRstFramesPerWindow(MOST_RESETS_SENT, SECONDS)
                        .maxDecodedRstFramesPerWindow(MOST_RESETS_READ, SECONDS))
                .doOnChannelInit((observer, channel, remote) -> change(channel.pipeline()));
    }

    private static void change(ChannelPipeline pipeline) {
        if (pipeline.get(NettyPipeline.H2CUpgradeHandler) != null) {
            add(pipeline, NettyPipeline.H2CUpgradeHandler, NettyPipeline.HttpTrafficHandler);
        } else if (pipeline.get(NettyPipeline.H2OrHttp11Codec) != null) {
            pipeline.addAfter(NettyPipeline.H2OrHttp11Codec, null, new Choice());
        }
    }

    private static void add(ChannelPipeline pipeline, String codec, String streams) {
        ChannelHandler floods = new FrameFloods(System::nanoTime);
        pipeline.addBefore(codec, "fairgate.floods", floods);
        pipeline.addBefore(streams, "fairgate.heads", new BrokenHeads());
    }

    /** Waits for the protocol that TLS chooses. Reactor Netty adds its handlers at the same event, before this handler gets it. */
    private static final class Choice extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent) {
                if (context.pipeline().get(NettyPipeline.H2MultiplexHandler) != null) {
                    add(context.pipeline(), NettyPipeline.HttpCodec, NettyPipeline.H2MultiplexHandler);
                }
                context.fireUserEventTriggered(event);
                context.pipeline().remove(this);
            } else {
                context.fireUserEventTriggered(event);
            }
        }
    }
}
