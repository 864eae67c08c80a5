package io.fairgate.spring.pace;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Reads the heads of the frames of HTTP/2 that leave a connection (RFC 9113, 4.1), and reports those of bodies. A body that its client
 * does not allow to be sent waits before this. Must be added between two frames, next to the codec; runs on the event loop.
 */
final class SentData extends ChannelOutboundHandlerAdapter {

    /** Gets the stream and the length of each DATA frame. */
    interface Listener {
        void sent(int stream, int bytes);
    }

    private static final int HEAD = 9;
    private static final int TYPE = 3;
    private static final int STREAM = 5;

    private final Listener listener;
    private final byte[] head = new byte[HEAD];
    private int headRead;
    /** Bytes of the frame behind its head that have not left yet. */
    private int left;

    SentData(Listener listener) {
        this.listener = listener;
    }

    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise written) {
        if (part instanceof ByteBuf bytes) {
            read(bytes);
        }
        var unused = context.write(part, written);
    }

    private void read(ByteBuf bytes) {
        int at = bytes.readerIndex();
        while (at < bytes.writerIndex()) {
            if (left > 0) {
                int skipped = Math.min(left, bytes.writerIndex() - at);
                left -= skipped;
                at += skipped;
            } else {
                head[headRead] = bytes.getByte(at);
                headRead++;
                at++;
                if (headRead == HEAD) {
                    headRead = 0;
                    left = number(0, TYPE);
                    if (head[TYPE] == Http2FrameTypes.DATA) {
                        listener.sent(number(STREAM, HEAD) & Integer.MAX_VALUE, left);
                    }
                }
            }
        }
    }

    private int number(int from, int to) {
        int number = 0;
        for (int i = from; i < to; i++) {
            number = number << Byte.SIZE | Byte.toUnsignedInt(head[i]);
        }
        return number;
    }
}
