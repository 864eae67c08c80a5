package io.fairgate.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** Requests of HTTP/2 in one connection, changed at random places. The same random numbers give the same frames. */
final class FuzzedFrames implements FuzzedRequests {

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int FRAME_HEADER = 9;
    private static final int MOST_REQUESTS = 10;
    private static final int MOST_TYPES = 12;

    /** One frame; its length is that of the payload, unless it was changed. */
    private static final class Frame {
        final int length;
        final int type;
        final int flags;
        final int stream;
        final byte[] payload;

        Frame(int length, int type, int flags, int stream, byte[] payload) {
            this.length = length;
            this.type = type;
            this.flags = flags;
            this.stream = stream;
            this.payload = payload;
        }

        Frame(int type, int flags, int stream, byte[] payload) {
            this(payload.length, type, flags, stream, payload);
        }

        private byte[] bytes() {
            return ByteBuffer.allocate(FRAME_HEADER + payload.length)
                    .put((byte) (length >> 16))
                    .putShort((short) length)
                    .put((byte) type)
                    .put((byte) flags)
                    .putInt(stream)
                    .put(payload)
                    .array();
        }

        @Override
        public String toString() {
            return "type %d flags %d stream %d length %d %s"
                    .formatted(type, flags, stream, length, new String(payload, StandardCharsets.ISO_8859_1));
        }
    }

    private final Random random;
    private final List<Frame> frames = new ArrayList<>();
    private final int count;

    /** Chooses some of the requests, each on a stream of its own, and changes few frames or none. */
    FuzzedFrames(Random random, List<Http2Request> all) {
        this.random = random;
        count = 1 + random.nextInt(MOST_REQUESTS);
        frames.add(new Frame(Http2FrameTypes.SETTINGS, 0, 0, new byte[0]));
        for (int i = 0; i < count; i++) {
            add(all.get(random.nextInt(all.size())), 2 * i + 1);
        }
        for (int i = random.nextInt(4); i > 0 && !frames.isEmpty(); i--) {
            change();
        }
    }

    @Override
    public int count() {
        return count;
    }

    private void add(Http2Request request, int stream) {
        boolean hasRest = !request.rest().isEmpty();
        frames.add(headers(request.head(), stream, !hasRest));
        for (int i = 0; i < request.rest().size(); i++) {
            Http2Request.Part part = request.rest().get(i);
            boolean isLast = i == request.rest().size() - 1;
            frames.add(
                    part.isTrailer()
                            ? headers(part.trailers(), stream, isLast)
                            : new Frame(
                                    Http2FrameTypes.DATA,
                                    new Http2Flags().endOfStream(isLast).value(),
                                    stream,
                                    part.text().getBytes(StandardCharsets.ISO_8859_1)));
        }
    }

    /** Without a table of earlier fields, so that a frame that is missing does not spoil those behind it. */
    private static Frame headers(Http2Headers headers, int stream, boolean end) {
        ByteBuf block = Unpooled.buffer();
        try {
            DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
            encoder.configuration().maxHeaderTableSize(0);
            encoder.encodeHeaders(stream, headers, block);
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(e);
        }
        int flags = new Http2Flags().endOfHeaders(true).endOfStream(end).value();
        return new Frame(Http2FrameTypes.HEADERS, flags, stream, ByteBufUtil.getBytes(block));
    }

    private void change() {
        int at = random.nextInt(frames.size());
        Frame frame = frames.get(at);
        switch (random.nextInt(10)) {
            case 0 -> frames.remove(at);
            case 1 -> frames.add(random.nextInt(frames.size() + 1), frame);
            case 2 -> frames.add(random.nextInt(frames.size()), frames.remove(at));
            case 3 -> frames.add(at, some());
            case 4 ->
                frames.set(
                        at,
                        new Frame(frame.length, random.nextInt(MOST_TYPES), frame.flags, frame.stream, frame.payload));
            case 5 ->
                frames.set(at, new Frame(frame.length, frame.type, random.nextInt(256), frame.stream, frame.payload));
            case 6 -> frames.set(at, new Frame(frame.length, frame.type, frame.flags, stream(), frame.payload));
            case 7 ->
                frames.set(at, new Frame(random.nextInt(40), frame.type, frame.flags, frame.stream, frame.payload));
            default ->
                frames.set(at, new Frame(frame.length, frame.type, frame.flags, frame.stream, changed(frame.payload)));
        }
    }

    private Frame some() {
        byte[] payload = new byte[random.nextInt(4) * random.nextInt(8)];
        random.nextBytes(payload);
        return new Frame(random.nextInt(MOST_TYPES), random.nextInt(256), stream(), payload);
    }

    /** Mostly one of the streams that there are, or the connection itself. */
    private int stream() {
        return random.nextInt(8) == 0 ? random.nextInt() : random.nextInt(2 * count + 2);
    }

    private byte[] changed(byte[] payload) {
        byte[] changed = payload.clone();
        for (int i = random.nextInt(3); i >= 0 && changed.length > 0; i--) {
            changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
        }
        return changed;
    }

    @Override
    public byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(PREFACE);
        frames.forEach(frame -> bytes.writeBytes(frame.bytes()));
        return bytes.toByteArray();
    }

    @Override
    public List<Integer> statuses(byte[] answers) {
        List<Integer> statuses = new ArrayList<>();
        DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
        ByteBuf left = Unpooled.wrappedBuffer(answers);
        while (left.readableBytes() >= FRAME_HEADER) {
            int length = left.readUnsignedMedium();
            int type = left.readUnsignedByte();
            left.skipBytes(FRAME_HEADER - 4);
            ByteBuf payload = left.readSlice(Math.min(length, left.readableBytes()));
            if (type == Http2FrameTypes.HEADERS) {
                statuses.add(status(decoder, payload));
            }
        }
        return statuses;
    }

    private static int status(DefaultHttp2HeadersDecoder decoder, ByteBuf block) {
        try {
            return Integer.parseInt(
                    String.valueOf(decoder.decodeHeaders(1, block).status()));
        } catch (Http2Exception e) {
            throw new AssertionError("an answer cannot be read", e);
        }
    }

    @Override
    public String toString() {
        return frames.stream().map(Frame::toString).collect(Collectors.joining("\n"));
    }
}
