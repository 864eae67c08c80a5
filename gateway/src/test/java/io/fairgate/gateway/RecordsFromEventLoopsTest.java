package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairgate.spring.refusal.RecordLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** BlockHound throws when a thread that must not block waits for a lock. */
class RecordsFromEventLoopsTest {

    private static final int RECORDS = 100_000;

    @Test
    void a_wait_on_such_a_thread_is_found() {
        Mono<Void> wait = Mono.fromCallable(() -> {
            Thread.sleep(1);
            return null;
        });
        assertThatThrownBy(() -> wait.subscribeOn(Schedulers.parallel()).block())
                .hasStackTraceContaining("BlockingOperationError");
    }

    @Test
    void threads_that_must_not_block_add_records_at_the_same_time_without_waiting_for_each_other_or_the_writer()
            throws InterruptedException {
        LoggerContext context = new LoggerContext();
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        context.getLogger("records").addAppender(lines);
        Counter lost = new SimpleMeterRegistry().counter("lost");
        RecordLog log = new RecordLog("records", lost, context.getLogger("records"));
        Scheduler loops = Schedulers.newParallel("loop", 4);
        try {
            Flux.range(0, RECORDS)
                    .parallel(4)
                    .runOn(loops)
                    .doOnNext(number -> log.add(Map.of("number", number)))
                    .sequential()
                    .blockLast();
        } finally {
            loops.dispose();
            log.destroy();
        }
        long written = lines.list.stream()
                .filter(line -> line.getFormattedMessage().contains("number"))
                .count();
        assertThat(written + lost.count()).isEqualTo(RECORDS);
    }
}
