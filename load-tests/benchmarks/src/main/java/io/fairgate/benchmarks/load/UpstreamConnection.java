package io.fairgate.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/** Answers requests without a body, one at a time. */
final class UpstreamConnection extends ByteToMessageDecoder {

    private static final String BODY = "0123456789abcdef".repeat(4);
    private static final ByteBuf END_OF_HEAD = PreparedBytes.of("\r\n\r\n");
    private static final ByteBuf SLOW = PreparedBytes.of("GET " + Upstream.SLOW);
    private static final ByteBuf STATISTICS = PreparedBytes.of("GET " + Upstream.STATISTICS);
    private static final ByteBuf ANSWER = PreparedBytes.of(answer(BODY));

    private final Station station;

    UpstreamConnection(Station station) {
        this.station = station;
    }

    /** With the headers that servers usually send. */
    private static String answer(String body) {
        return """
                HTTP/1.1 200 OK
                Server: upstream
                Date: Sun, 01 Nov 2026 12:00:00 GMT
                Content-Type: text/plain
                Content-Length: %d
                Connection: keep-alive

                """.formatted(body.length()).replace("\n", "\r\n") + body;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        int end = ByteBufUtil.indexOf(END_OF_HEAD, in);
        if (end < 0) {
            return;
        }
        boolean isSlow = beginsWith(in, SLOW);
        boolean isStatistics = beginsWith(in, STATISTICS);
        in.readerIndex(end + END_OF_HEAD.readableBytes());
        if (isSlow) {
            station.enter(() -> write(context, ANSWER.duplicate()));
        } else if (isStatistics) {
            write(context, statistics());
        } else {
            write(context, ANSWER.duplicate());
        }
    }

    private ByteBuf statistics() {
        Station.Statistics statistics = station.statistics();
        return PreparedBytes.of(
                answer("busy %d most %d".formatted(statistics.busy().toNanos(), statistics.mostAtOnce())));
    }

    private static void write(ChannelHandlerContext context, ByteBuf bytes) {
        var unused = context.writeAndFlush(bytes, context.voidPromise());
    }

    private static boolean beginsWith(ByteBuf in, ByteBuf start) {
        return in.readableBytes() >= start.readableBytes()
                && ByteBufUtil.equals(in, in.readerIndex(), start, 0, start.readableBytes());
    }

    /** A connection that is reset is no more than one that has ended. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        var unused = context.close();
    }
}
