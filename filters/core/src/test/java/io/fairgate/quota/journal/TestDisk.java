package io.fairgate.quota.journal;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A disk that hangs and fails when a test says so, and shows its contents. */
public final class TestDisk implements JournalStore {
    private final Map<UsageKey, JournalRecord> kept = new ConcurrentHashMap<>();
    private final AtomicInteger writes = new AtomicInteger();
    private static final int ALL = Integer.MAX_VALUE / 2;

    private final Semaphore reached = new Semaphore(0);
    private final Semaphore goesOn = new Semaphore(ALL);
    private volatile @Nullable Throwable failure;
    private volatile boolean isClosed;

    /** The disk that a process finds after a crash at this moment. */
    public TestDisk crash() {
        TestDisk found = new TestDisk();
        found.kept.putAll(kept);
        return found;
    }

    /** From now on a write returns only when {@link #goOn} or {@link #letOneGoOn} allows it. */
    public void hang() {
        reached.drainPermits();
        goesOn.drainPermits();
    }

    public void goOn() {
        goesOn.drainPermits();
        goesOn.release(ALL);
    }

    public void letOneGoOn() {
        goesOn.release();
    }

    public void awaitWrite() throws InterruptedException {
        reached.acquire();
    }

    /** From now on a write throws; null ends this. */
    public void failWith(@Nullable Throwable next) {
        failure = next;
    }

    public int writes() {
        return writes.get();
    }

    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public Map<UsageKey, JournalRecord> live() {
        return kept;
    }

    @Override
    public void write(Collection<JournalRecord> records) throws IOException {
        writes.incrementAndGet();
        reached.release();
        try {
            goesOn.acquire();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        Throwable now = failure;
        if (now instanceof IOException e) {
            throw e;
        } else if (now instanceof Error e) {
            throw e;
        } else if (now != null) {
            throw new IllegalStateException(now);
        }
        records.forEach(record -> kept.put(record.key(), record));
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
