package io.fairgate.spring.pace;

import io.fairgate.spring.exchange.MovingDeadline;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2WindowUpdateFrame;
import io.netty.util.AttributeKey;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The responses of one connection of a client that it has to read at a pace: one at a time over HTTP/1.1, several over HTTP/2.
 *
 * <p>They are looked at every two seconds while there are any; so most requests set no timer.
 *
 * <p>Over HTTP/2, a response may wait for its client although its connection does not: until the client sends WINDOW_UPDATE for the
 * stream (RFC 9113, 5.2). It then sends as many bytes as the client allows.
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
    private boolean areCreditsNoted;

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
            responses.forEach(response -> response.look(this, now));
            nextLook.set(BETWEEN_LOOKS);
        }
    }

    /** From now on, the bytes are counted that the client allows, and those that it acknowledges. */
    OptionalLong beginWindow() {
        if (!areCreditsNoted) {
            areCreditsNoted = true;
            noteCredits();
        }
        return AcknowledgedBytes.of(connection);
    }

    /** Whether something was written to this channel that its connection has not sent yet. */
    boolean hasUnsent(Channel channel) {
        return channel.isActive()
                && channel.bytesBeforeUnwritable() <= channel.config().getWriteBufferHighWaterMark();
    }

    /** The bytes of all responses that the client has acknowledged since then; as many as possible when that is not known. */
    long acknowledgedSince(OptionalLong before) {
        OptionalLong now = AcknowledgedBytes.of(connection);
        return before.isPresent() && now.isPresent() ? now.getAsLong() - before.getAsLong() : Long.MAX_VALUE;
    }

    /** Whether the client must allow more bytes of this stream, before another one can be sent. */
    boolean waitsForCredit(Channel channel) {
        Http2FrameCodec codec = connection.pipeline().get(Http2FrameCodec.class);
        Http2Stream own = stream(channel);
        return codec != null
                && own != null
                && codec.connection().remote().flowController().windowSize(own) <= 0;
    }

    private @Nullable Http2Stream stream(Channel channel) {
        Http2FrameCodec codec = connection.pipeline().get(Http2FrameCodec.class);
        return codec != null && channel instanceof Http2StreamChannel stream
                ? codec.connection().stream(stream.stream().id())
                : null;
    }

    private void noteCredits() {
        ChannelPipeline pipeline = connection.pipeline();
        ChannelHandlerContext codec = pipeline.context(Http2FrameCodec.class);
        if (codec != null) {
            pipeline.addAfter(codec.name(), null, new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object frame) {
                    if (frame instanceof Http2WindowUpdateFrame more) {
                        noteCredit(more);
                    }
                    context.fireChannelRead(frame);
                }
            });
        }
    }

    private void noteCredit(Http2WindowUpdateFrame more) {
        for (PacedResponse response : responses) {
            if (response.channel() instanceof Http2StreamChannel stream && stream.stream() == more.stream()) {
                response.allowed(more.windowSizeIncrement());
            }
        }
    }
}
