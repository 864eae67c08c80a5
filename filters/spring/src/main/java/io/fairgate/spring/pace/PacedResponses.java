package io.fairgate.spring.pace;

import io.fairgate.spring.exchange.MovingDeadline;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.AttributeKey;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The responses of one connection of a client that it has to read at a pace: one at a time over HTTP/1.1, several over HTTP/2.
 *
 * <p>They are looked at every two seconds while there are any; so most requests set no timer.
 *
 * <p>Over HTTP/2, a response may wait for its client although its connection does not: until the client sends WINDOW_UPDATE for the
 * stream or for the connection (RFC 9113, 5.2). Then only what is sent of this response counts: the client acknowledges other things as well.
 */
final class PacedResponses {

    private static final AttributeKey<PacedResponses> OF_CONNECTION =
            AttributeKey.valueOf(PacedResponses.class.getName());

    private static final long BETWEEN_LOOKS = TimeUnit.SECONDS.toNanos(2);

    private final Channel connection;
    private final MovingDeadline nextLook;
    private final List<PacedResponse> responses = new ArrayList<>(1);
    /** So many of them may be over before they are removed. */
    private int room = 1;

    private boolean isLooking;
    private boolean isCounting;

    private PacedResponses(Channel connection) {
        this.connection = connection;
        this.nextLook = new MovingDeadline(connection.eventLoop(), this::look);
        connection.closeFuture().addListener(closed -> nextLook.stop());
    }

    static void add(PacedResponse response) {
        Channel channel = response.channel();
        Channel connection = channel instanceof Http2StreamChannel ? channel.parent() : channel;
        PacedResponses known = connection.attr(OF_CONNECTION).get();
        if (known == null) {
            known = new PacedResponses(connection);
            connection.attr(OF_CONNECTION).set(known);
        }
        known.addOwn(response);
    }

    private void addOwn(PacedResponse response) {
        if (responses.size() >= room) {
            responses.removeIf(PacedResponse::isOver);
            room = Math.max(1, 2 * responses.size());
        }
        responses.add(response);
        if (!isLooking) {
            isLooking = true;
            nextLook.set(BETWEEN_LOOKS);
        }
    }

    private void look() {
        responses.removeIf(PacedResponse::isOver);
        isLooking = !responses.isEmpty() && connection.isActive();
        if (isLooking) {
            long now = connection.eventLoop().ticker().nanoTime();
            int behind = 0;
            for (PacedResponse response : responses) {
                behind += response.lookWhetherBehind(this, now) ? 1 : 0;
            }
            for (PacedResponse response : responses) {
                response.endIfTooSlow(this, behind, now);
            }
            nextLook.set(BETWEEN_LOOKS);
        }
    }

    /** From now on, the bytes are counted that are sent and acknowledged. */
    OptionalLong beginToCount() {
        if (!isCounting) {
            isCounting = true;
            ChannelHandlerContext codec = connection.pipeline().context(Http2FrameCodec.class);
            if (codec != null) {
                connection.pipeline().addBefore(codec.name(), null, new SentData(this::sent));
            }
        }
        return AcknowledgedBytes.of(connection);
    }

    private void sent(int stream, int bytes) {
        for (PacedResponse response : responses) {
            if (response.channel() instanceof Http2StreamChannel own
                    && own.stream().id() == stream) {
                response.sent(bytes);
            }
        }
    }

    /** The bytes of all responses that the client has acknowledged since then; as many as possible when that is not known. */
    long acknowledgedSince(OptionalLong before) {
        OptionalLong now = AcknowledgedBytes.of(connection);
        return before.isPresent() && now.isPresent() ? now.getAsLong() - before.getAsLong() : Long.MAX_VALUE;
    }

    /** Whether the client must allow more bytes, of this stream or of all, before another one can be sent. */
    boolean mayNotSend(Channel channel) {
        Http2FrameCodec codec = connection.pipeline().get(Http2FrameCodec.class);
        if (codec == null || !(channel instanceof Http2StreamChannel stream)) {
            return false;
        }
        Http2Connection http2 = codec.connection();
        Http2RemoteFlowController windows = http2.remote().flowController();
        Http2Stream own = http2.stream(stream.stream().id());
        return (own != null && windows.windowSize(own) <= 0) || windows.windowSize(http2.connectionStream()) <= 0;
    }
}
