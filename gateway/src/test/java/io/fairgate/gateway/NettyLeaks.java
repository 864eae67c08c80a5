package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Netty's leak reports, which it writes to the log: buffers that were collected without having been released. */
final class NettyLeaks {

    private static final ListAppender<ILoggingEvent> REPORTS = new ListAppender<>();

    private NettyLeaks() {}

    static void watch() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        Logger logger = (Logger) LoggerFactory.getLogger(ResourceLeakDetector.class);
        logger.setLevel(Level.ERROR);
        REPORTS.start();
        logger.addAppender(REPORTS);
    }

    static void assertNone() {
        System.gc();
        // Netty looks for collected buffers when it makes a new one.
        for (int i = 0; i < 8; i++) {
            PooledByteBufAllocator.DEFAULT.directBuffer(16).release();
        }
        List<String> leaks = REPORTS.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.contains("LEAK"))
                .toList();
        assertThat(leaks).as("Netty's leak reports").isEmpty();
    }
}
