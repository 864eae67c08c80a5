package io.fairgate.spring.pace;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SentDataTest {

    private final List<String> sent = new ArrayList<>();
    private final EmbeddedChannel connection =
            new EmbeddedChannel(new SentData((stream, bytes) -> sent.add(stream + ": " + bytes)));

    private static ByteBuf frame(int type, int stream, int length) {
        return Unpooled.buffer()
                .writeMedium(length)
                .writeByte(type)
                .writeByte(0)
                .writeInt(stream)
                .writeZero(length);
    }

    /** A frame of every kind, some of which have bytes that look like the head of another. */
    private static ByteBuf frames() {
        return Unpooled.wrappedBuffer(
                frame(Http2FrameTypes.HEADERS, 1, 20),
                frame(Http2FrameTypes.DATA, 1, 70_000),
                frame(Http2FrameTypes.PING, 0, 8),
                frame(Http2FrameTypes.DATA, 1 << 20, 0),
                frame(Http2FrameTypes.SETTINGS, 0, 0),
                frame(Http2FrameTypes.DATA, 3, 5));
    }

    @AfterEach
    void close() {
        connection.finishAndReleaseAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 9, 1000, 1_000_000})
    void frames_of_bodies_are_reported_in_whatever_pieces_they_leave(int piece) {
        ByteBuf frames = frames();
        while (frames.isReadable()) {
            assertThat(connection.writeOutbound(frames.readRetainedSlice(Math.min(piece, frames.readableBytes()))))
                    .isTrue();
        }
        frames.release();
        assertThat(sent).containsExactly("1: 70000", (1 << 20) + ": 0", "3: 5");
    }

    @Test
    void what_leaves_is_not_changed() {
        ByteBuf part = frame(Http2FrameTypes.DATA, 1, 5);
        connection.writeOutbound(part);
        assertThat(connection.<ByteBuf>readOutbound()).isSameAs(part);
        assertThat(part.readableBytes()).isEqualTo(14);
        part.release();
    }
}
