package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** A body that is larger than all buffers on its way. */
final class LargeBody {

    static final int SIZE = 60 << 20;

    /** The body repeats this. */
    static final byte[] BLOCK = new byte[64 << 10];

    static final int BLOCKS = SIZE / BLOCK.length;

    /** More than the buffers of four sockets, and much less than the body. */
    private static final long BUFFERED = 40 << 20;

    static {
        for (int i = 0; i < BLOCK.length; i++) {
            BLOCK[i] = (byte) (i * 31 + (i >> 8));
        }
    }

    private LargeBody() {}

    /** Answers a request with the body, and counts what was sent of it. */
    static void answer(RecordingUpstream.Request request, AtomicLong sent) throws IOException {
        request.send("HTTP/1.1 200 OK\r\nContent-Length: " + SIZE + "\r\n\r\n");
        for (int i = 0; i < BLOCKS; i++) {
            request.wire().send(BLOCK);
            sent.addAndGet(BLOCK.length);
        }
    }

    /** Waits until a sender has got stuck, or has sent everything; it must have got stuck. */
    static void awaitPause(AtomicLong sent) {
        AtomicLong before = new AtomicLong(-1);
        Awaitility.await()
                .atMost(Patience.LIMIT)
                .pollInterval(Duration.ofMillis(300))
                .until(() -> sent.get() > 0 && before.getAndSet(sent.get()) == sent.get());
        assertThat(sent.get()).as("sent while the receiver does not read").isLessThan(BUFFERED);
    }

    static void requireIn(InputStream in) throws IOException {
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(Arrays.equals(in.readNBytes(BLOCK.length), BLOCK))
                    .as("block %d is as it was sent", i)
                    .isTrue();
        }
    }
}
