package io.fairgate.spring.pace;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2FrameCodec;

/** How much a client may send without being read. */
final class ReceiveWindow {

    private ReceiveWindow() {}

    /**
     * Whether the client is allowed to send. Over HTTP/2 it is not while other streams of its connection have used up what the
     * gateway takes without reading it. Called on the event loop.
     */
    static boolean isOpen(Channel channel) {
        Channel connection = channel.parent();
        Http2FrameCodec codec =
                connection == null ? null : connection.pipeline().get(Http2FrameCodec.class);
        if (codec == null) {
            return true;
        }
        Http2Connection http2 = codec.connection();
        return http2.local().flowController().windowSize(http2.connectionStream()) > 0;
    }
}
