package io.fairgate.spring.refusal;

import io.micrometer.core.instrument.Counter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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

    /** The name of the audit log. */
    public static final String AUDIT = "audit";
    /** The name of the access log. */
    public static final String ACCESS = "access";

    private static final int CAPACITY = 4096;
    private static final Duration LONGEST_END = Duration.ofSeconds(2);
    /**
     * Marks the end of the queue. Recognised by its identity, so it is not {@code Map.of()}, which is one object for
     * all.
     */
    private static final Map<String, Object> END = new HashMap<>();

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final Logger ours = LoggerFactory.getLogger(RecordLog.class);

    private final String name;
    private final Logger log;
    private final Counter lostInAll;
    private final Queue<Map<String, Object>> records = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final Thread writer;
    /** Used by the writer only. */
    private boolean failing;

    /**
     * A log that a thread of its own writes.
     *
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
        this.writer = new Thread(this::write, "fairgate-" + name);
        writer.setDaemon(true);
        writer.start();
    }

    /**
     * Takes a record and returns at once, from any thread.
     *
     * @param record what happened; values are texts and numbers, and never a credential
     */
    public void add(Map<String, Object> record) {
        if (!log.isInfoEnabled()) {
            return;
        }
        if (waiting.incrementAndGet() > CAPACITY) {
            waiting.decrementAndGet();
            lose();
            return;
        }
        records.add(record);
        LockSupport.unpark(writer);
    }

    private void lose() {
        lost.incrementAndGet();
        lostInAll.increment();
    }

    private void write() {
        while (true) {
            Map<String, Object> record = records.poll();
            if (record == END) {
                writeLost();
                return;
            } else if (record != null) {
                waiting.decrementAndGet();
                if (!isWritten(record)) {
                    lose();
                }
            } else if (!writeLost()) {
                LockSupport.park(this);
            }
        }
    }

    /** False when no loss is to be reported, or the log cannot be written; the next record then tries again. */
    private boolean writeLost() {
        int count = lost.get();
        if (count == 0 || failing || !isWritten(Map.of("event", "records-lost", "count", count))) {
            return false;
        }
        lost.addAndGet(-count);
        return true;
    }

    private boolean isWritten(Map<String, Object> record) {
        try {
            log.info("{}", JSON.writeValueAsString(record));
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
        records.add(END);
        LockSupport.unpark(writer);
        writer.join(LONGEST_END.toMillis());
    }
}
