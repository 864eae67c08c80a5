package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of HTTP/2 on a channel without a network, at the time of the test. */
class FrameFloodsTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000);
    private final EmbeddedChannel channel = new EmbeddedChannel(new FrameFloods(nanos::get));

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }

    private static ByteBuf frame(int type, int stream, int length) {
        return Unpooled.buffer()
                .writeMedium(length)
                .writeByte(type)
                .writeByte(0)
                .writeInt(stream)
                .writeBytes(payload(length));
    }

    /** Read as the head of a frame, this would be a long one. */
    private static byte[] payload(int length) {
        byte[] payload = new byte[length];
        Arrays.fill(payload, (byte) 1);
        return payload;
    }

    private void begin() {
        channel.writeInbound(Unpooled.copiedBuffer(Http2CodecUtil.connectionPrefaceBuf()));
    }

    private void send(int count, int type, int stream, int length) {
        for (int i = 0; i < count; i++) {
            channel.writeInbound(frame(type, stream, length));
        }
        channel.releaseInbound();
    }

    private void assertOneMoreEnds(int type, int stream, int length, int lastStream) {
        assertThat(channel.isOpen()).isTrue();
        send(1, type, stream, length);
        assertEnded(lastStream);
    }

    private void assertEnded(int lastStream) {
        ByteBuf goAway = channel.readOutbound();
        assertThat(goAway).isNotNull();
        assertThat(goAway.getUnsignedMedium(0)).isEqualTo(8);
        assertThat(goAway.getByte(3)).isEqualTo(Http2FrameTypes.GO_AWAY);
        assertThat(goAway.getInt(9)).isEqualTo(lastStream);
        assertThat(goAway.getInt(13)).isEqualTo((int) Http2Error.ENHANCE_YOUR_CALM.code());
        goAway.release();
        assertThat(channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            bytes = {
                Http2FrameTypes.PING,
                Http2FrameTypes.SETTINGS,
                Http2FrameTypes.PRIORITY,
                Http2FrameTypes.WINDOW_UPDATE,
                Http2FrameTypes.CONTINUATION,
                77
            })
    void a_flood_of_other_frames_than_requests_ends_the_connection(byte type) {
        begin();
        send(FrameFloods.MOST_TOKENS, type, 0, 8);
        assertOneMoreEnds(type, 0, 8, 0);
    }

    @Test
    void empty_frames_of_data_are_such_frames_and_the_last_stream_is_told() {
        begin();
        send(1, Http2FrameTypes.HEADERS, 7, 20);
        send(1, Http2FrameTypes.HEADERS, 5, 20);
        send(FrameFloods.MOST_TOKENS, Http2FrameTypes.DATA, 7, 0);
        assertOneMoreEnds(Http2FrameTypes.DATA, 7, 0, 7);
    }

    @Test
    void requests_and_bodies_are_no_flood() {
        begin();
        send(10 * FrameFloods.MOST_TOKENS, Http2FrameTypes.HEADERS, 1, 30);
        send(10 * FrameFloods.MOST_TOKENS, Http2FrameTypes.DATA, 1, 1);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void each_part_of_a_response_allows_further_frames_and_an_acknowledgement_none() {
        begin();
        send(FrameFloods.MOST_TOKENS, Http2FrameTypes.WINDOW_UPDATE, 0, 4);
        channel.writeOutbound(frame(Http2FrameTypes.DATA, 1, 100));
        channel.writeOutbound(frame(Http2FrameTypes.PING, 0, 8));
        channel.releaseOutbound();
        send(FrameFloods.TOKENS_A_FRAME, Http2FrameTypes.WINDOW_UPDATE, 0, 4);
        assertOneMoreEnds(Http2FrameTypes.WINDOW_UPDATE, 0, 4, 0);
    }

    /** Go's client sends two for every 4 kB that its reader has taken. */
    @Test
    void a_download_is_no_flood_if_its_client_acknowledges_every_4_kB() {
        begin();
        for (int i = 0; i < 10_000; i++) {
            channel.writeOutbound(frame(Http2FrameTypes.DATA, 1, 16_384));
            channel.releaseOutbound();
            send(8, Http2FrameTypes.WINDOW_UPDATE, 1, 4);
        }
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void a_quiet_time_gives_no_more_frames_than_there_are_at_the_beginning() {
        begin();
        nanos.addAndGet(3_600_000_000_000L);
        send(FrameFloods.MOST_TOKENS, Http2FrameTypes.PING, 0, 8);
        assertOneMoreEnds(Http2FrameTypes.PING, 0, 8, 0);
    }

    @Test
    void frames_come_back_with_the_time() {
        begin();
        send(FrameFloods.MOST_TOKENS, Http2FrameTypes.PING, 0, 8);
        nanos.addAndGet(3_000_000_000L);
        send(3 * FrameFloods.TOKENS_A_SECOND, Http2FrameTypes.PING, 0, 8);
        assertThat(channel.isOpen()).isTrue();
        nanos.addAndGet(3_600_000_000_000L);
        send(FrameFloods.MOST_TOKENS, Http2FrameTypes.PING, 0, 8);
        assertOneMoreEnds(Http2FrameTypes.PING, 0, 8, 0);
    }

    @Test
    void frames_that_come_byte_by_byte_are_counted_as_well() {
        begin();
        send(FrameFloods.MOST_TOKENS - 1, Http2FrameTypes.PING, 0, 8);
        for (int i = 0; i < 2; i++) {
            ByteBuf frame = frame(Http2FrameTypes.PING, 0, 8);
            while (frame.isReadable() && channel.isOpen()) {
                channel.writeInbound(frame.readRetainedSlice(1));
            }
            frame.release();
            assertThat(channel.isOpen()).isEqualTo(i == 0);
        }
        assertEnded(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\n", "PRI * HTTP/1.1\r\n"})
    void http_1_passes_and_is_not_looked_at(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        ByteBuf passed = channel.readInbound();
        assertThat(passed.toString(StandardCharsets.US_ASCII)).isEqualTo(text);
        passed.release();
        assertThat(channel.pipeline().get(FrameFloods.class)).isNull();
    }
}
