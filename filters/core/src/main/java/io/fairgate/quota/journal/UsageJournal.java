package io.fairgate.quota.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A file that keeps the usage of calendar quotas and totals over a restart. Units are written as used before they are
 * granted, a chunk at a time: a crash forgets no granted unit, and loses at most the rest of a chunk.
 *
 * <p>All writing is done on a thread of its own, and the slow calls of the listener on another. Records that are submitted
 * during a write are written together afterwards, and forced to the disk once. When the file cannot be written, the listener
 * is called, quotas continue to be counted in memory, and each further write is another attempt, which includes the records
 * of the failed ones. A write that takes longer than {@link #LONGEST_WRITE} counts as failed until it returns, so that a disk
 * that hangs delays requests no more than a disk that fails.
 *
 * <p>One process uses the file; a lock file beside it keeps others out.
 */
public final class UsageJournal implements AutoCloseable {

    /** Far longer than a busy disk takes, and about as long as a client waits for an answer. */
    public static final Duration LONGEST_WRITE = Duration.ofSeconds(1);

    private static final Duration LONGEST_END = Duration.ofSeconds(10);
    private static final Duration LONGEST_REPORT = Duration.ofSeconds(1);

    private final JournalStore store;
    private final @Nullable JournalLock lock;
    private final Scheduler clock;
    private final JournalReporter reporter;

    private final Scheduler thread = Schedulers.newBoundedElastic(1, Integer.MAX_VALUE, "fairgate-journal", 60, true);
    private final CountDownLatch ended = new CountDownLatch(1);

    // ---- under the lock of this object, which is held for nothing that takes time ----

    /** The records to write next: the last one of each usage, including those of failed writes. */
    private Map<UsageKey, JournalRecord> next = new LinkedHashMap<>();
    /** The callbacks to run after that: those of records first, because the others then look at the usages of these. */
    private Deque<Runnable> waiting = new ArrayDeque<>();
    /** Whether anything was submitted since the last batch was taken. */
    private boolean isSubmitted;
    /** The batch that the thread is writing; null when it writes none. */
    private @Nullable Batch running;
    /** Whether that write takes so long that no callback waits for it any more. */
    private boolean isSlow;

    private boolean isScheduled;
    private boolean isClosed;
    /** Why the journal cannot be written; null when it can. */
    private @Nullable IOException failure;

    /** All that was submitted when it was made. */
    private final class Batch {
        private final List<JournalRecord> records = List.copyOf(next.values());
        private final Deque<Runnable> answers = waiting;
    }

    /**
     * A journal in a store that is open, and that nothing else writes to.
     *
     * @param clock for the timer that detects slow writes
     */
    public UsageJournal(JournalStore store, Scheduler clock, JournalListener listener) {
        this(store, null, clock, listener);
    }

    private UsageJournal(JournalStore store, @Nullable JournalLock lock, Scheduler clock, JournalListener listener) {
        this.store = store;
        this.lock = lock;
        this.clock = clock;
        this.reporter = new JournalReporter(listener);
    }

    /**
     * Opens the file, or makes it in an existing directory. Blocks on file operations.
     *
     * @param clock for the timer that detects slow writes
     * @param calendar the wall clock, to find windows that ended so long ago that they need not be kept
     * @throws UnusableJournalException saying in one sentence why the file cannot be used
     */
    public static UsageJournal open(Path path, Scheduler clock, InstantSource calendar, JournalListener listener) {
        try {
            if (Files.isSymbolicLink(path) && !Files.exists(path)) {
                throw new UnusableJournalException(
                        "usage journal %s: a link to what is not there (expected: a file, or a link to one that exists)"
                                .formatted(path));
            }
            // The real path: a file with two names has one lock, and rewriting replaces the file, not a link to it.
            Path file = Files.exists(path) ? path.toRealPath() : path;
            JournalLock lock = JournalLock.of(file);
            try {
                return new UsageJournal(JournalFile.open(file, calendar), lock, clock, listener);
            } catch (IOException | RuntimeException e) {
                lock.close();
                throw e;
            }
        } catch (IOException e) {
            String reason = e instanceof NoSuchFileException ? "no such directory" : e.toString();
            throw new UnusableJournalException(
                    "usage journal %s: %s (expected: a file in a directory that can be written)"
                            .formatted(path, reason));
        }
    }

    /** The record of a usage that is on the disk, from this process or an earlier one; null when there is none. */
    public @Nullable JournalRecord found(UsageKey key) {
        return store.live().get(key);
    }

    /** Calls {@link JournalListener#ranAhead} when the journal has usage of windows that have not begun. */
    public void reportWindowsAfter(Instant now) {
        reporter.reportWindowsAfter(now, store.live().values());
    }

    /**
     * Submits a record.
     *
     * @param done runs when the record is on the disk, or when its write has failed: on the journal's thread or on the
     *     timer's; or at once on this thread, when the disk is too slow or the journal is closed
     */
    public void write(JournalRecord record, Runnable done) {
        submit(record, done);
    }

    /** Completes when all records submitted before the subscription are done, on a thread on which {@code done} runs. */
    public Mono<Void> written() {
        return Mono.create(sink -> submit(null, sink::success));
    }

    private void submit(@Nullable JournalRecord record, Runnable answer) {
        synchronized (this) {
            if (!isClosed) {
                if (record != null) {
                    next.put(record.key(), record);
                }
                schedule();
                if (!isSlow) {
                    if (record != null) {
                        waiting.addFirst(answer);
                    } else {
                        waiting.addLast(answer);
                    }
                    return;
                }
            }
        }
        // The disk is too slow, or the journal is closed: the caller must not wait.
        answer.run();
    }

    private synchronized void schedule() {
        isSubmitted = true;
        if (!isScheduled) {
            isScheduled = true;
            var unused = thread.schedule(this::writeAll);
        }
    }

    private void writeAll() {
        for (Batch batch = take(); batch != null; batch = take()) {
            if (!batch.records.isEmpty()) {
                write(batch);
            }
            batch.answers.forEach(JournalReporter::guard);
            reporter.report(this::failure);
        }
    }

    /** The next batch; null when nothing was submitted. The records of a failed write wait for the next submission. */
    private synchronized @Nullable Batch take() {
        isScheduled = isSubmitted;
        if (!isSubmitted) {
            if (isClosed) {
                letGo();
            }
            return null;
        }
        isSubmitted = false;
        running = new Batch();
        next = new LinkedHashMap<>();
        waiting = new ArrayDeque<>();
        return running;
    }

    private void write(Batch batch) {
        Disposable watch = clock.schedule(() -> tooSlow(batch), LONGEST_WRITE.toMillis(), TimeUnit.MILLISECONDS);
        IOException cause = null;
        try {
            store.write(batch.records);
        } catch (IOException e) {
            cause = e;
        } catch (RuntimeException | Error bug) {
            // The thread continues, because callbacks wait for it and the next attempt may succeed.
            cause = new IOException(bug);
        }
        watch.dispose();
        synchronized (this) {
            // The records of a failed write go into the next batch, unless there are newer ones.
            if (cause != null) {
                batch.records.forEach(record -> next.putIfAbsent(record.key(), record));
            }
            failure = cause;
            running = null;
            isSlow = false;
        }
    }

    /** On the timer's thread: runs all callbacks, and from now on none waits until the write returns. */
    private void tooSlow(Batch batch) {
        Deque<Runnable> released = new ArrayDeque<>();
        synchronized (this) {
            if (running != batch) {
                return;
            }
            isSlow = true;
            failure = new IOException("a write takes longer than %s".formatted(LONGEST_WRITE));
            released.addAll(batch.answers);
            released.addAll(waiting);
            batch.answers.clear();
            waiting.clear();
        }
        released.forEach(JournalReporter::guard);
        reporter.report(this::failure);
    }

    /**
     * Writes the submitted records and closes the file. Blocks until that is done, for at most ten seconds. If the disk takes
     * longer, the file stays locked until the write is done or the process ends. Then waits for pending calls of the listener,
     * for at most one second. Only the first call does anything. Units that are charged later are not written and do not wait.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
            schedule();
        }
        try {
            if (!ended.await(LONGEST_END.toMillis(), TimeUnit.MILLISECONDS)) {
                synchronized (this) {
                    failure = new IOException("the last usage was not written within %s".formatted(LONGEST_END));
                }
                reporter.report(this::failure);
            }
            reporter.awaitReports(LONGEST_REPORT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized @Nullable IOException failure() {
        return failure;
    }

    private void letGo() {
        close(store);
        if (lock != null) {
            close(lock);
        }
        ended.countDown();
        thread.dispose();
    }

    private static void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // All that could be written is on the disk, and the system closes the file when the process ends.
        }
    }
}
