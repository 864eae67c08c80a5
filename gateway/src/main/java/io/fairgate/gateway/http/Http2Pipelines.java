package io.fairgate.gateway.http;

import io.netty.channel.ChannelPipeline;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * Adds {@link FrameFloods} and {@link BrokenHeads} to the connections of a server that may speak HTTP/2, and sets its bounds of
 * resets. Without TLS they are there from the beginning, because HTTP/2 begins with its preface and the first requests may
 * come in the same read; they let HTTP/1.1 pass. With TLS they are added when HTTP/2 has been chosen.
 */
public final class Http2Pipelines {

    /** Time for the numbers of resets below; beyond them the connection is ended. */
    private static final int SECONDS = 30;

    /** Resets by a client. This is also Netty's default. */
    private static final int MOST_RESETS_READ = 200;

    /**
     * Resets by the gateway. Netty's default is 200. Each stream beyond the bound of streams is reset, and a client may open
     * many before it has read the bound.
     */
    private static final int MOST_RESETS_SENT = 2_000;

    private Http2Pipelines() {}

    public static HttpServer bounded(HttpServer server) {
        return server.http2Settings(settings -> settings.maxEncodedRstFramesPerWindow(MOST_RESETS_SENT, SECONDS)
                        .maxDecodedRstFramesPerWindow(MOST_RESETS_READ, SECONDS))
                .doOnChannelInit((observer, channel, remote) -> change(channel.pipeline()));
    }

    private static void change(ChannelPipeline pipeline) {
        if (pipeline.get(NettyPipeline.H2CUpgradeHandler) != null) {
            add(pipeline, NettyPipeline.H2CUpgradeHandler, NettyPipeline.HttpTrafficHandler);
        } else {
            ProtocolChoice.await(
                    pipeline,
                    NettyPipeline.H2MultiplexHandler,
                    chosen -> add(chosen, NettyPipeline.HttpCodec, NettyPipeline.H2MultiplexHandler));
        }
    }

    private static void add(ChannelPipeline pipeline, String codec, String streams) {
        pipeline.addBefore(codec, "fairgate.floods", new FrameFloods(System::nanoTime));
        pipeline.addBefore(streams, "fairgate.heads", new BrokenHeads());
    }
}
