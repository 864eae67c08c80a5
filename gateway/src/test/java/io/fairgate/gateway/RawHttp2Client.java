package io.fairgate.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A client that speaks HTTP/2 from its first byte (prior knowledge), frame by frame, also in unusual ways. */
final class RawHttp2Client implements AutoCloseable {

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int FRAME_HEADER = 9;

    private final Socket socket;
    private final DataInputStream in;
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private final Map<Integer, Stream> streams = new TreeMap<>();
    private int lastStream = -1;
    private @Nullable Http2Error goAway;
    private boolean closed;

    RawHttp2Client(int port) throws IOException {
        this(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    RawHttp2Client(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write(PREFACE);
        send(Http2FrameTypes.SETTINGS, 0, 0, new byte[0]);
    }

    /** What has come on one stream. */
    final class Stream {
        private final StringBuilder text = new StringBuilder();
        private @Nullable Http2Headers headers;
        private @Nullable Http2Error reset;
        private boolean ended;

        /** Waits for the headers; throws when the stream ends without. */
        Http2Headers headers() throws IOException {
            readUntil(() -> headers != null || ended);
            if (headers == null) {
                throw new IOException("the stream has ended without headers: " + reset);
            }
            return headers;
        }

        /** The body as far as it has come. */
        String text() {
            return text.toString();
        }

        /** Waits for so many bytes of the body. */
        void awaitText(int bytes) throws IOException {
            readUntil(() -> text.length() >= bytes || ended);
        }

        /** Whether any of its answer has come so far. */
        boolean hasAnswer() {
            return headers != null;
        }

        String status() throws IOException {
            return String.valueOf(headers().status());
        }

        /** Waits for the whole answer. */
        String body() throws IOException {
            readUntil(() -> ended);
            if (reset != null) {
                throw new IOException("the stream was reset: " + reset);
            }
            return text.toString();
        }

        /** Waits for the end of the stream; why it was reset, or null when its answer is whole. */
        @Nullable
        Http2Error reset() throws IOException {
            readUntil(() -> ended);
            return reset;
        }
    }

    static Http2Headers request(String method, String path, String tenant) {
        return new DefaultHttp2Headers(false)
                .method(method)
                .scheme("http")
                .authority("test")
                .path(path)
                .add("x-tenant-id", tenant);
    }

    Stream get(String path, String tenant) throws IOException {
        return open(request("GET", path, tenant));
    }

    /** Sends a request without a body on a new stream, also after a GOAWAY. */
    Stream open(Http2Headers request) throws IOException {
        return open(request, true);
    }

    /** Sends the head of a request on a new stream, and ends the stream or not. */
    Stream open(Http2Headers request, boolean end) throws IOException {
        lastStream += 2;
        Stream stream = new Stream();
        streams.put(lastStream, stream);
        headers(request, end);
        return stream;
    }

    /** Sends headers on the latest stream: the head of a request, or trailers. */
    void headers(Http2Headers request, boolean end) throws IOException {
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.encodeHeaders(lastStream, request, block);
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(e);
        }
        int flags = new Http2Flags().endOfHeaders(true).endOfStream(end).value();
        send(Http2FrameTypes.HEADERS, flags, lastStream, ByteBufUtil.getBytes(block));
    }

    /** Sends a part of the body on the latest stream. */
    void data(String part, boolean end) throws IOException {
        int flags = new Http2Flags().endOfStream(end).value();
        send(Http2FrameTypes.DATA, flags, lastStream, part.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Has each body begin with at most so many bytes; before the first request. */
    void allowAtFirst(int bytes) throws IOException {
        ByteBuffer setting = ByteBuffer.allocate(6)
                .putChar(Http2CodecUtil.SETTINGS_INITIAL_WINDOW_SIZE)
                .putInt(bytes);
        send(Http2FrameTypes.SETTINGS, 0, 0, setting.array());
    }

    /** Allows more bytes of a stream, or with 0 of all, unless the gateway has closed the connection. */
    void allow(int stream, int bytes) {
        trySend(
                Http2FrameTypes.WINDOW_UPDATE,
                stream,
                ByteBuffer.allocate(Integer.BYTES).putInt(bytes).array());
    }

    /** Waits for a GOAWAY; its error code. */
    Http2Error awaitGoAway() throws IOException {
        readUntil(() -> goAway != null);
        if (goAway == null) {
            throw new IOException("the connection has ended without a GOAWAY");
        }
        return goAway;
    }

    /** Waits until the gateway has closed the connection. */
    void awaitClose() throws IOException {
        readUntil(() -> false);
    }

    /** Closes the sending side, and continues to read. */
    void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Leaves with a FIN. */
    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** Sends a frame without flags; false when the gateway has closed the connection. */
    boolean trySend(int type, int stream, byte[] payload) {
        try {
            send(type, 0, stream, payload);
            return true;
        } catch (IOException closed) {
            return false;
        }
    }

    private void send(int type, int flags, int stream, byte[] payload) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(FRAME_HEADER + payload.length)
                .put((byte) (payload.length >> 16))
                .putShort((short) payload.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload);
        socket.getOutputStream().write(frame.array());
        socket.getOutputStream().flush();
    }

    /** Reads frames until something has come, or the connection has ended. */
    private void readUntil(BooleanSupplier come) throws IOException {
        while (!come.getAsBoolean() && !closed) {
            int first = in.read();
            if (first < 0) {
                closed = true;
                streams.values().forEach(stream -> stream.ended = true);
                return;
            }
            int length = first << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            Http2Flags flags = new Http2Flags((short) in.readUnsignedByte());
            int stream = in.readInt() & Integer.MAX_VALUE;
            take(type, flags, streams.get(stream), in.readNBytes(length));
        }
    }

    private void take(int type, Http2Flags flags, @Nullable Stream stream, byte[] payload) throws IOException {
        if (type == Http2FrameTypes.SETTINGS && !flags.ack()) {
            send(Http2FrameTypes.SETTINGS, new Http2Flags().ack(true).value(), 0, new byte[0]);
        } else if (type == Http2FrameTypes.GO_AWAY) {
            goAway = Http2Error.valueOf(ByteBuffer.wrap(payload).getInt(Integer.BYTES));
        } else if (stream != null) {
            take(type, flags, payload, stream);
        }
    }

    private void take(int type, Http2Flags flags, byte[] payload, Stream stream) throws IOException {
        if (type == Http2FrameTypes.HEADERS) {
            try {
                stream.headers = decoder.decodeHeaders(1, Unpooled.wrappedBuffer(payload));
            } catch (Http2Exception e) {
                throw new IOException(e);
            }
        } else if (type == Http2FrameTypes.DATA) {
            stream.text.append(new String(payload, StandardCharsets.UTF_8));
        } else if (type == Http2FrameTypes.RST_STREAM) {
            stream.reset = Http2Error.valueOf(ByteBuffer.wrap(payload).getInt());
        }
        boolean mayEnd = type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.DATA;
        stream.ended |= stream.reset != null || (mayEnd && flags.endOfStream());
    }
}
