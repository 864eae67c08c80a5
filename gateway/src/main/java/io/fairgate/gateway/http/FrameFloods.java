package io.fairgate.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Ends a connection of HTTP/2 that has many more frames than its requests and responses need: floods of PING, SETTINGS,
 * PRIORITY, WINDOW_UPDATE, CONTINUATION, unknown or empty frames cost the gateway work and the client nothing
 * (CVE-2019-9512, 9514, 9515 and others). Netty bounds only resets, empty frames and CONTINUATION.
 *
 * <p>Each such frame takes one of the tokens of its connection. Tokens come back with the time, and with each frame of DATA or
 * HEADERS and each kilobyte of DATA, in both directions: Go's client sends two WINDOW_UPDATE for every 4 kB that it has read. A
 * connection without tokens gets a GOAWAY with ENHANCE_YOUR_CALM and is closed.
 *
 * <p>It is placed before the codec and reads the heads of frames from the bytes that pass. It runs on the event loop only.
 */
final class FrameFloods extends ChannelDuplexHandler {

    static final int MOST_TOKENS = 2_000;
    static final int TOKENS_A_SECOND = 200;
    /** For each frame of DATA or HEADERS. */
    static final int TOKENS_A_FRAME = 4;
    /** Bytes of DATA for one token. */
    static final int BYTES_A_TOKEN = 1_024;

    /** A client that does not read cannot be sent the GOAWAY; its connection is closed after this time. */
    private static final Duration LAST_SEND = Duration.ofSeconds(1);

    private static final int HEAD = Http2CodecUtil.FRAME_HEADER_LENGTH;
    private static final int TYPE_AT = 3;
    private static final int STREAM_AT = 5;
    private static final long NANOS_A_TOKEN = 1_000_000_000L / TOKENS_A_SECOND;
    private static final ByteBuf PREFACE = Http2CodecUtil.connectionPrefaceBuf();

    private final LongSupplier nanoTime;
    private final byte[] head = new byte[HEAD];
    private int prefaceRead;
    private int headRead;
    private int payloadLeft;
    private int lastStream;
    private int tokens = MOST_TOKENS;
    private long filledAt;
    private boolean ended;

    FrameFloods(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        filledAt = nanoTime.getAsLong();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (ended) {
            ReferenceCountUtil.release(part);
        } else if (part instanceof ByteBuf bytes && isFlood(context, bytes)) {
            bytes.release();
            end(context);
        } else {
            context.fireChannelRead(part);
        }
    }

    /** Reads on without moving the buffer's own position. */
    private boolean isFlood(ChannelHandlerContext context, ByteBuf bytes) {
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (at < end) {
            if (prefaceRead < PREFACE.readableBytes()) {
                if (bytes.getByte(at++) != PREFACE.getByte(prefaceRead++)) {
                    context.pipeline().remove(this); // This is HTTP/1.1.
                    return false;
                }
            } else if (payloadLeft > 0) {
                int skipped = Math.min(payloadLeft, end - at);
                payloadLeft -= skipped;
                at += skipped;
            } else {
                head[headRead++] = bytes.getByte(at++);
                if (headRead == HEAD && !passes()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Counts the frame of which the head has been read. */
    private boolean passes() {
        headRead = 0;
        payloadLeft = number(0, TYPE_AT);
        byte type = head[TYPE_AT];
        if (type == Http2FrameTypes.HEADERS) {
            lastStream = Math.max(lastStream, number(STREAM_AT, HEAD) & Integer.MAX_VALUE);
        }
        if (type == Http2FrameTypes.HEADERS || (type == Http2FrameTypes.DATA && payloadLeft > 0)) {
            give(TOKENS_A_FRAME + payloadLeft / BYTES_A_TOKEN);
            return true;
        }
        return take();
    }

    private int number(int from, int to) {
        int number = 0;
        for (int i = from; i < to; i++) {
            number = number << Byte.SIZE | (head[i] & 0xff);
        }
        return number;
    }

    private void give(long more) {
        tokens = (int) Math.min(MOST_TOKENS, tokens + more);
    }

    private boolean take() {
        long come = (nanoTime.getAsLong() - filledAt) / NANOS_A_TOKEN;
        filledAt += come * NANOS_A_TOKEN;
        give(come);
        return tokens-- > 0;
    }

    /** Netty writes the head of a frame, and what follows it, as buffers of their own or in one. */
    @Override
    public void write(ChannelHandlerContext context, Object part, ChannelPromise promise) {
        if (part instanceof ByteBuf bytes && bytes.readableBytes() >= HEAD) {
            byte type = bytes.getByte(bytes.readerIndex() + TYPE_AT);
            if (type == Http2FrameTypes.DATA || type == Http2FrameTypes.HEADERS) {
                give(TOKENS_A_FRAME + bytes.getUnsignedMedium(bytes.readerIndex()) / BYTES_A_TOKEN);
            }
        }
        var unused = context.write(part, promise);
    }

    private void end(ChannelHandlerContext context) {
        ended = true;
        ByteBuf goAway = Unpooled.buffer(HEAD + 2 * Integer.BYTES)
                .writeMedium(2 * Integer.BYTES)
                .writeByte(Http2FrameTypes.GO_AWAY)
                .writeByte(0)
                .writeInt(0)
                .writeInt(lastStream)
                .writeInt((int) Http2Error.ENHANCE_YOUR_CALM.code());
        var sent = context.writeAndFlush(goAway).addListener(end -> close(context));
        var late = context.executor().schedule(() -> close(context), LAST_SEND.toNanos(), TimeUnit.NANOSECONDS);
        sent.addListener(end -> late.cancel(false));
    }

    /** Closed from here: Netty's handler of HTTP/2 would wait for the streams that are open. */
    private static void close(ChannelHandlerContext context) {
        var unused = context.close();
    }
}
