package io.fairgate.quota;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A file that keeps what is used of calendar quotas and totals over a restart. Units are written down as used before they
 * are given, a chunk at a time: a crash forgets no unit that was given, and loses at most the rest of a chunk.
 *
 * <p>All writing is done on a thread of its own. Whatever was asked for while it wrote is written together, and forced to
 * the disk once. When the file cannot be written, the listener is told, quotas go on to be counted in memory, and each
 * further write is another attempt.
 *
 * <p>One process has the file; a lock beside it refuses others.
 */
public final class UsageJournal implements AutoCloseable {

    private record Request(@Nullable JournalRecord record, Runnable done) {}

    private final JournalFile file;
    private final FileChannel lock;
    private final JournalListener listener;
    private final Map<JournalRecord.Key, JournalRecord> found;
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    /** How many requests have come since nobody was writing. */
    private final AtomicInteger unseen = new AtomicInteger();

    private final Scheduler thread = Schedulers.newBoundedElastic(1, Integer.MAX_VALUE, "fairgate-journal");
    private boolean isFailing;
    private volatile boolean isClosed;

    private UsageJournal(JournalFile file, FileChannel lock, JournalListener listener) {
        this.file = file;
        this.lock = lock;
        this.listener = listener;
        this.found = file.live();
    }

    /**
     * Opens the file, or makes it in a directory that exists. Blocks, as files do.
     *
     * @throws UnusableJournalException saying in one sentence why it cannot be used
     */
    public static UsageJournal open(Path path, JournalListener listener) {
        FileChannel lock = null;
        try {
            lock = lock(path);
            return new UsageJournal(JournalFile.open(path), lock, listener);
        } catch (IOException e) {
            close(lock);
            String reason = e instanceof NoSuchFileException ? "no such directory" : e.toString();
            throw new UnusableJournalException(
                    "usage journal %s: %s (expected: a file in a directory that can be written)"
                            .formatted(path, reason));
        } catch (UnusableJournalException e) {
            close(lock);
            throw e;
        }
    }

    /** Not on the file itself, which is replaced from time to time. */
    private static FileChannel lock(Path path) throws IOException {
        FileChannel channel = FileChannel.open(
                path.resolveSibling(path.getFileName() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // Another one in this process, which is the same to us.
        }
        if (lock == null) {
            channel.close();
            throw new UnusableJournalException(
                    "usage journal %s: in use already (expected: one process for each file)".formatted(path));
        }
        return channel;
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // Nothing was written to it.
        }
    }

    /** What was written down of a usage before this process began; null when nothing was. */
    @Nullable
    JournalRecord found(JournalRecord.Key key) {
        return found.get(key);
    }

    /** @param done runs on the journal's thread when the record is on the disk, or could not be written */
    void write(JournalRecord record, Runnable done) {
        request(new Request(record, done));
    }

    /** Completes on the journal's thread when all that was asked for before the subscription is done. */
    Mono<Void> written() {
        return Mono.create(sink -> request(new Request(null, sink::success)));
    }

    /** Lets every further write fail, as a disk does, for tests. */
    void breakFile() throws IOException {
        file.close();
    }

    private void request(Request request) {
        if (isClosed) {
            // Too late for the disk; nobody is to wait for it.
            request.done.run();
            return;
        }
        requests.add(request);
        if (unseen.getAndIncrement() == 0) {
            var unused = thread.schedule(this::writeAll);
        }
    }

    private void writeAll() {
        int seen = unseen.get();
        while (seen > 0) {
            List<Request> batch = new ArrayList<>();
            List<JournalRecord> records = new ArrayList<>();
            for (Request next = requests.poll(); next != null; next = requests.poll()) {
                batch.add(next);
                if (next.record != null) {
                    records.add(next.record);
                }
            }
            if (!records.isEmpty()) {
                write(records);
            }
            batch.forEach(request -> request.done.run());
            seen = unseen.addAndGet(-seen);
        }
    }

    private void write(List<JournalRecord> records) {
        try {
            file.write(records);
            if (isFailing) {
                isFailing = false;
                listener.recovered();
            }
        } catch (IOException e) {
            if (!isFailing) {
                isFailing = true;
                listener.failed(e);
            }
        }
    }

    /** Writes what has been asked for, and lets go of the file. Blocks until that is done. */
    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        CountDownLatch written = new CountDownLatch(1);
        request(new Request(null, written::countDown));
        isClosed = true;
        try {
            if (!written.await(10, TimeUnit.SECONDS)) {
                listener.failed(new IOException("the last usage was not written within 10 s"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread.dispose();
        file.close();
        lock.close();
    }
}
