package io.fairgate.quota;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Collection;
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
 * A file that keeps what is used of calendar quotas and totals over a restart. Units are written down as used before they
 * are given, a chunk at a time: a crash forgets no unit that was given, and loses at most the rest of a chunk.
 *
 * <p>All writing is done on a thread of its own, and all telling on another. Whatever was asked for while it wrote is
 * written together, and forced to the disk once. When the file cannot be written, the listener is told, quotas go on to
 * be counted in memory, and each
 * further write is another attempt, which also writes what the failed ones did not. A write that takes longer than
 * {@link #LONGEST_WRITE} is a failure until it returns: a disk that hangs must not hold up more than one that fails.
 *
 * <p>One process has the file; a lock beside it refuses others.
 */
public final class UsageJournal implements AutoCloseable {

    /** Far above what a busy disk takes, and about as long as somebody waits for an answer. */
    static final Duration LONGEST_WRITE = Duration.ofSeconds(1);

    private static final Duration LONGEST_END = Duration.ofSeconds(10);
    private static final Duration LONGEST_NEWS = Duration.ofSeconds(1);

    private final JournalStore store;
    private final @Nullable JournalLock lock;
    private final Scheduler clock;
    private final JournalNews news;
    private final Map<JournalRecord.Key, JournalRecord> onDisk;

    private final Scheduler thread = Schedulers.newBoundedElastic(1, Integer.MAX_VALUE, "fairgate-journal", 60, true);
    private final CountDownLatch ended = new CountDownLatch(1);

    // ---- under the lock of this object, which is held for nothing that takes time ----

    /** What is to be written next, the last of each usage; what could not be written is in it as well. */
    private Map<JournalRecord.Key, JournalRecord> next = new LinkedHashMap<>();
    /** Who is answered after that: first who wrote, because the others ask those again. */
    private Deque<Runnable> waiting = new ArrayDeque<>();
    /** Whether somebody has asked for something since the last batch was taken. */
    private boolean isAsked;
    /** What is with the thread now. */
    private @Nullable Batch running;
    /** Whether that takes so long that nobody waits for it any more. */
    private boolean isSlow;

    private boolean isScheduled;
    private boolean isClosed;
    /** Why it cannot be written; null when it can. */
    private @Nullable IOException failure;

    private static final class Batch {
        private final List<JournalRecord> records;
        private final Deque<Runnable> answers;

        Batch(Collection<JournalRecord> records, Deque<Runnable> answers) {
            this.records = List.copyOf(records);
            this.answers = answers;
        }
    }

    UsageJournal(JournalStore store, @Nullable JournalLock lock, Scheduler clock, JournalListener listener) {
        this.store = store;
        this.lock = lock;
        this.clock = clock;
        this.news = new JournalNews(listener);
        this.onDisk = store.live();
    }

    /**
     * Opens the file, or makes it in a directory that exists. Blocks, as files do.
     *
     * @param clock for the timer of a write that takes too long
     * @param calendar the wall clock, for windows that have been over for so long that they need not be kept
     * @throws UnusableJournalException saying in one sentence why it cannot be used
     */
    public static UsageJournal open(Path path, Scheduler clock, InstantSource calendar, JournalListener listener) {
        try {
            if (Files.isSymbolicLink(path) && !Files.exists(path)) {
                throw new UnusableJournalException(
                        "usage journal %s: a link to what is not there (expected: a file, or a link to one that exists)"
                                .formatted(path));
            }
            // One file under two names has one lock, and it is the file that is replaced, not a link to it.
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

    /** What is on the disk of a usage, from this process or one before; null when nothing is. */
    @Nullable
    JournalRecord found(JournalRecord.Key key) {
        return onDisk.get(key);
    }

    /** Tells the listener when units are charged to windows that have not begun. */
    void tellOfWindowsAfter(Instant now) {
        news.tellOfWindowsAfter(now, onDisk.values());
    }

    /**
     * @param done runs when the record is on the disk, or as good as that because it could not be written: on the
     *     journal's thread, or on that of the timer, or at once here, when nobody is to wait for the disk
     */
    void write(JournalRecord record, Runnable done) {
        ask(record, done);
    }

    /** Completes, on one of the same threads, when all that was asked for before the subscription is done. */
    Mono<Void> written() {
        return Mono.create(sink -> ask(null, sink::success));
    }

    private void ask(@Nullable JournalRecord record, Runnable answer) {
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
        // The disk is too slow, or it is too late for it; nobody is to wait.
        answer.run();
    }

    private synchronized void schedule() {
        isAsked = true;
        if (!isScheduled) {
            isScheduled = true;
            var unused = thread.schedule(this::writeAll);
        }
    }

    private void writeAll() {
        for (Batch batch = take(); batch != null; batch = take()) {
            Batch taken = batch;
            if (!taken.records.isEmpty()) {
                write(taken);
            }
            taken.answers.forEach(JournalNews::guard);
            news.tell(this::failure);
        }
    }

    /** Null when nobody has asked for anything; what could not be written waits for somebody who does. */
    private synchronized @Nullable Batch take() {
        isScheduled = isAsked;
        if (!isAsked) {
            if (isClosed) {
                letGo();
            }
            return null;
        }
        isAsked = false;
        running = new Batch(next.values(), waiting);
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
            // The thread goes on, because others wait for it, and the next attempt may succeed.
            cause = new IOException(bug);
        }
        watch.dispose();
        synchronized (this) {
            // What failed is written with the next batch, unless there is something newer.
            if (cause != null) {
                batch.records.forEach(record -> next.putIfAbsent(record.key(), record));
            }
            failure = cause;
            running = null;
            isSlow = false;
        }
    }

    /** On the timer's thread: from now on nobody waits until it returns. */
    private void tooSlow(Batch batch) {
        Deque<Runnable> released = new ArrayDeque<>();
        synchronized (this) {
            if (running != batch) {
                return;
            }
            isSlow = true;
            failure = new IOException("a write takes longer than %s".formatted(LONGEST_WRITE));
            move(batch.answers, released);
            move(waiting, released);
        }
        released.forEach(JournalNews::guard);
        news.tell(this::failure);
    }

    private static void move(Deque<Runnable> from, Deque<Runnable> to) {
        to.addAll(from);
        from.clear();
    }

    /**
     * Writes what has been asked for, and lets go of the file. Blocks until that is done, at most ten seconds; a disk
     * that takes longer keeps the file, and others out of it, until it is done or the process ends. Then it waits, for a
     * second at most, for a listener that has not heard everything. Only the first call does anything; what is charged
     * after it is not written, and does not wait.
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
                news.tell(this::failure);
            }
            news.awaitTold(LONGEST_NEWS);
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
            // What could be written is on the disk, and the system lets go of the rest when the process ends.
        }
    }
}
