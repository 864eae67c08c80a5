package io.fairgate.spring.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import io.fairgate.spring.metrics.Meter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The audit log while its output blocks or fails. */
class RecordLogTest {

    private final LoggerContext context = new LoggerContext();
    private final Logger logger = context.getLogger("io.fairgate.audit");
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CountDownLatch go = new CountDownLatch(1);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Counter lostRecords = registry.counter("fairgate.records.lost", "log", RecordLog.AUDIT);

    @BeforeEach
    void blockTheLog() {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                lines.add(event.getFormattedMessage());
            }
        };
        appender.setContext(context);
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void unblockTheLog() {
        go.countDown();
    }

    @Test
    void a_blocked_log_blocks_no_thread_and_lost_records_are_counted_and_reported_once() throws InterruptedException {
        RecordLog audit = new RecordLog(RecordLog.AUDIT, lostRecords, logger);
        for (int i = 0; i < 10_000; i++) {
            audit.add(Map.of("event", "e" + i));
        }
        double lost = registry.counter(Meter.RECORDS_LOST.id(), "log", "audit").count();
        assertThat(lost).isBetween(10_000.0 - 4100, 10_000.0 - 4096);
        go.countDown();
        Awaitility.await().untilAsserted(() -> assertThat(lines).hasSize(10_000 - (int) lost + 1));
        assertThat(lines.get(0)).isEqualTo("{\"event\":\"e0\"}");
        assertThat(lines.get(lines.size() - 1)).contains("\"event\":\"records-lost\"", "\"count\":" + (int) lost);
        audit.destroy();
    }

    @Test
    void write_failures_are_counted_and_reported_once_and_so_is_their_end() throws InterruptedException {
        go.countDown();
        AtomicBoolean full = new AtomicBoolean(true);
        logger.detachAndStopAllAppenders();
        logger.addAppender(new AppenderBase<>() {
            @Override
            public synchronized void doAppend(ILoggingEvent event) {
                if (full.get()) {
                    throw new UncheckedIOException(new IOException("No space left on device"));
                }
                lines.add(event.getFormattedMessage());
            }

            @Override
            protected void append(ILoggingEvent event) {}
        });
        Logger own = (Logger) LoggerFactory.getLogger(RecordLog.class);
        ListAppender<ILoggingEvent> sentences = new ListAppender<>();
        sentences.start();
        own.addAppender(sentences);
        // Another test's application may have turned the root logger off.
        own.setLevel(Level.INFO);
        RecordLog audit = new RecordLog(RecordLog.AUDIT, lostRecords, logger);
        try {
            for (int i = 0; i < 3; i++) {
                audit.add(Map.of("event", "e" + i));
            }
            Counter lost = registry.counter(Meter.RECORDS_LOST.id(), "log", "audit");
            Awaitility.await().untilAsserted(() -> assertThat(lost.count()).isEqualTo(3));
            full.set(false);
            audit.add(Map.of("event", "e3"));
            audit.destroy();
            assertThat(lines)
                    .hasSize(2)
                    .contains("{\"event\":\"e3\"}")
                    .last()
                    .asString()
                    .contains("\"event\":\"records-lost\"", "\"count\":3");
            assertThat(lost.count()).isEqualTo(3);
            assertThat(sentences.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .satisfiesExactly(
                            failed -> assertThat(failed)
                                    .contains("The audit log cannot be written", "No space left on device"),
                            works -> assertThat(works)
                                    .isEqualTo("The audit log is written again; 3 records were lost."));
            assertThat(sentences.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.ERROR, Level.INFO);
        } finally {
            own.setLevel(null);
            own.detachAppender(sentences);
        }
    }

    @Test
    void pending_records_are_written_at_the_end() throws InterruptedException {
        go.countDown();
        RecordLog audit = new RecordLog(RecordLog.AUDIT, lostRecords, logger);
        for (int i = 0; i < 100; i++) {
            audit.add(Map.of("event", "e" + i));
        }
        audit.destroy();
        assertThat(lines).hasSize(100);
    }

    @Test
    void a_value_from_a_client_cannot_end_a_line() throws InterruptedException {
        go.countDown();
        RecordLog audit = new RecordLog(RecordLog.AUDIT, lostRecords, logger);
        audit.add(Map.of("path", "/x\r\n{\"event\":\"forged\"}\u0000\u001b"));
        audit.destroy();
        assertThat(lines).containsExactly("{\"path\":\"/x\\r\\n{\\\"event\\\":\\\"forged\\\"}\\u0000\\u001B\"}");
    }

    @Test
    void a_disabled_log_takes_no_records() throws InterruptedException {
        logger.setLevel(Level.WARN);
        RecordLog audit = new RecordLog(RecordLog.AUDIT, lostRecords, logger);
        audit.add(Map.of("event", "e"));
        go.countDown();
        audit.destroy();
        assertThat(lines).isEmpty();
    }
}
