package io.fairgate.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Bytes that are written again and again. */
final class PreparedBytes {

    private PreparedBytes() {}

    /** Write duplicates of it. Netty may release them as often as it likes. */
    static ByteBuf of(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
        return Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(direct));
    }
}
