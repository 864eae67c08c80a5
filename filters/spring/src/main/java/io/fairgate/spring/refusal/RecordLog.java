package io.fairgate.spring.refusal;

import io.micrometer.core.instrument.Counter;
import java.util.Map;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import tools.jackson.databind.json.JsonMapper;

/**
 * A log for programs to read: each message is one JSON object on one line, at level INFO of a logger of its own. The
 * logging of the application decides where the messages go.
 *
 * <p>A thread of its own writes the log, so that a log that blocks, because a disk is full or a reader is slow, blocks
 * no request. Records that do not fit into the queue meanwhile are lost and counted, and one line reports their number.
 */
public final class RecordLog implements DisposableBean {

    public static final String AUDIT = "audit";
    public static final String ACCESS = "access";

    private static final int CAPACITY = 4096;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final Logger ours = LoggerFactory.getLogger(RecordLog.class);

    private final String name;
    private final Logger log;
    private final Counter lostInAll;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final ThreadPoolExecutor writer;
    /** Used by the writer only. */
    private boolean failing;

    /**
     * @param name the name of the log; its logger is {@code io.fairgate.NAME}
     * @param lost counts the records that are lost
     */
    public RecordLog(String name, Counter lost) {
        this(name, lost, LoggerFactory.getLogger("io.fairgate." + name));
    }

    public RecordLog(String name, Counter lost, Logger log) {
        this.name = name;
        this.lostInAll = lost;
        this.log = log;
        this.writer = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                // Its offer takes no lock: an event loop must not wait for the writer.
                new LinkedTransferQueue<>(),
                task -> {
                    Thread thread = new Thread(task, "fairgate-" + name);
                    thread.setDaemon(true);
                    return thread;
                },
                (rejected, executor) -> lose());
        writer.prestartCoreThread();
    }

    /**
     * Takes a record and returns at once, from any thread.
     *
     * @param record what happened; values are texts and numbers, and never a credential
     */
    public void add(Map<String, ?> record) {
        add(() -> record);
    }

    /** The same, but the thread of the log makes the record; a record that is lost is not made. */
    void add(Supplier<Map<String, ?>> record) {
        if (!log.isInfoEnabled()) {
            return;
        }
        if (waiting.incrementAndGet() > CAPACITY) {
            waiting.decrementAndGet();
            lose();
        } else {
            writer.execute(() -> write(record));
        }
    }

    private void lose() {
        lost.incrementAndGet();
        lostInAll.increment();
    }

    private void write(Supplier<Map<String, ?>> record) {
        waiting.decrementAndGet();
        if (!isWritten(record)) {
            lose();
        } else if (writer.getQueue().isEmpty()) {
            writeLost();
        }
    }

    private void writeLost() {
        int count = lost.get();
        if (count > 0 && isWritten(() -> Map.of("event", "records-lost", "count", count))) {
            lost.addAndGet(-count);
        }
    }

    private boolean isWritten(Supplier<Map<String, ?>> record) {
        try {
            log.info("{}", JSON.writeValueAsString(record.get()));
        } catch (RuntimeException e) {
            if (!failing) {
                failing = true;
                ours.error("The {} log cannot be written: {}. Its records are lost until it can.", name, e.toString());
            }
            return false;
        }
        if (failing) {
            failing = false;
            ours.info("The {} log is written again; {} records were lost.", name, lost.get());
        }
        return true;
    }

    /** Writes the records in the queue, unless the log takes too long. Blocks for at most two seconds. */
    @Override
    public void destroy() throws InterruptedException {
        writer.shutdown();
        if (writer.awaitTermination(2, TimeUnit.SECONDS) && !failing) {
            writeLost();
        }
    }
}
