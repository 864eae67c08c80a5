package io.fairgate.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One connection of an open loop, with one request at a time. It reads no more of an answer than its status and its
 * length: a load that decodes everything would need more of the machine than the gateway.
 */
final class OpenConnection extends ByteToMessageDecoder {

    private static final ByteBuf END_OF_HEAD = PreparedBytes.of("\r\n\r\n");
    private static final String LENGTH = "content-length:";
    private static final int STATUS = 9;

    private final OpenLoop load;
    private @Nullable ChannelHandlerContext context;
    private long sentAt;
    private boolean isWaiting;
    private boolean hasGivenUp;

    OpenConnection(OpenLoop load) {
        this.load = load;
    }

    boolean isOpen() {
        return context != null && context.channel().isActive();
    }

    /** Whether the request that was sent at this time has no answer yet. */
    boolean waitsSince(long time) {
        return isWaiting && sentAt == time && isOpen();
    }

    void send(ByteBuf request, long now) {
        if (context != null) {
            sentAt = now;
            isWaiting = true;
            var unused = context.writeAndFlush(request, context.voidPromise());
        }
    }

    void giveUp() {
        hasGivenUp = true;
        if (context != null) {
            var unused = context.close();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext active) {
        context = active;
        load.connected(this);
    }

    @Override
    protected void decode(ChannelHandlerContext channel, ByteBuf in, List<Object> out) {
        int end = ByteBufUtil.indexOf(END_OF_HEAD, in);
        if (end < 0) {
            return;
        }
        int head = end + END_OF_HEAD.readableBytes() - in.readerIndex();
        String text = in.toString(in.readerIndex(), head, StandardCharsets.US_ASCII);
        int length = length(text);
        if (in.readableBytes() < head + length) {
            return;
        }
        in.skipBytes(head + length);
        isWaiting = false;
        load.answered(this, Integer.parseInt(text.substring(STATUS, STATUS + 3)), sentAt);
    }

    private static int length(String head) {
        String lower = head.toLowerCase(Locale.ROOT);
        int at = lower.indexOf(LENGTH);
        if (at < 0) {
            throw new IllegalStateException("no length (expected: Content-Length): " + head);
        }
        return Integer.parseInt(
                lower.substring(at + LENGTH.length(), lower.indexOf('\r', at)).strip());
    }

    @Override
    public void channelInactive(ChannelHandlerContext channel) throws Exception {
        super.channelInactive(channel);
        load.closed(isWaiting && !hasGivenUp);
        isWaiting = false;
    }

    /** The gateway may reset connections. */
    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable cause) {
        var unused = channel.close();
    }
}
