package io.fairgate.gateway;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Frames of WebSockets as bytes (RFC 6455, section 5.2), also such as no client may send. */
final class WebSocketFrames {

    static final int CONTINUATION = 0;
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;
    static final int FIN = 0x80;
    static final int RSV1 = 0x40;
    static final int RSV2 = 0x20;
    static final int RSV3 = 0x10;

    private static final byte[] MASK = {0x37, (byte) 0xfa, 0x21, 0x3d};

    private WebSocketFrames() {}

    /** A masked frame; its first byte has FIN, the reserved bits and the opcode. */
    static byte[] frame(int first, byte[] payload) {
        byte[] masked = payload.clone();
        for (int i = 0; i < masked.length; i++) {
            masked[i] ^= MASK[i % MASK.length];
        }
        return join(head(first, 0x80, payload.length), MASK, masked);
    }

    static byte[] unmasked(int first, byte[] payload) {
        return join(head(first, 0, payload.length), payload);
    }

    static byte[] text(String text) {
        return frame(FIN | TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] close(int code, String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        return frame(FIN | CLOSE, join(new byte[] {(byte) (code >> 8), (byte) code}, text));
    }

    private static byte[] head(int first, int mask, int length) {
        if (length < 126) {
            return new byte[] {(byte) first, (byte) (mask | length)};
        }
        if (length < 65_536) {
            return new byte[] {(byte) first, (byte) (mask | 126), (byte) (length >> 8), (byte) length};
        }
        return new byte[] {
            (byte) first,
            (byte) (mask | 127),
            0,
            0,
            0,
            0,
            (byte) (length >> 24),
            (byte) (length >> 16),
            (byte) (length >> 8),
            (byte) length
        };
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    /** What a server has sent: the frames of messages, and those of control in between, each in their order. */
    static final class Received {

        private final List<String> messages = new ArrayList<>();
        private final List<String> control = new ArrayList<>();
        private long bytes;

        /** Reads until the end, also if that is a reset, as when the server closes before it has read all. */
        void read(InputStream from) throws IOException {
            DataInputStream in = new DataInputStream(new BufferedInputStream(from));
            try {
                while (true) {
                    int first = in.readUnsignedByte();
                    byte[] payload = new byte[length(in)];
                    in.readFully(payload);
                    add(first, payload);
                }
            } catch (EOFException | SocketException end) {
                add(0, new byte[0]);
            }
        }

        private static int length(DataInputStream in) throws IOException {
            int length = in.readUnsignedByte();
            return length == 126 ? in.readUnsignedShort() : length == 127 ? Math.toIntExact(in.readLong()) : length;
        }

        private synchronized void add(int first, byte[] payload) {
            boolean isControl = (first & 0x08) != 0;
            (isControl ? control : messages)
                    .add("%02x %d %s".formatted(first, payload.length, Arrays.hashCode(payload)));
            bytes += isControl ? 0 : payload.length;
            notifyAll();
        }

        /** Waits until the messages have had this many bytes. */
        synchronized void await(int awaited) throws InterruptedException {
            while (bytes < awaited) {
                wait();
            }
        }

        @Override
        public synchronized String toString() {
            return messages + "\n" + control;
        }
    }
}
