package io.fairgate.benchmarks.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What the servers that refuse every request answer: a refusal as Fairgate writes one, with an id that never changes. */
final class ConstantAnswer {

    private static final byte[] BODY = """
            {"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",\
            "title":"Service Unavailable","status":503,\
            "detail":"The capacity is in use, and too many requests wait for it.","reason":"pool-queue-full",\
            "violated-policies":["full"],"decision":"6590948fb25c3d6f"}""".getBytes(StandardCharsets.US_ASCII);

    private static final ByteBuf BUFFER = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(
            ByteBuffer.allocateDirect(BODY.length).put(BODY).flip()));

    private ConstantAnswer() {}

    static ByteBuf body() {
        return BUFFER.duplicate();
    }

    static void addHeaders(HttpHeaders headers) {
        headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set(HttpHeaderNames.CONTENT_TYPE, "application/problem+json")
                .set(HttpHeaderNames.RETRY_AFTER, "2")
                .set(HttpHeaderNames.CONTENT_LENGTH, BODY.length);
    }
}
