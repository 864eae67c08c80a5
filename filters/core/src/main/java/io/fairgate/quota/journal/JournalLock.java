package io.fairgate.quota.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock by which one process owns a journal. It is on a file beside the journal, because the journal itself is replaced
 * from time to time. The system releases it when the process ends, however it ends.
 */
record JournalLock(Path file, FileChannel held) implements AutoCloseable {

    /**
     * The lock files of this process. A process must not even open a lock file again: on Linux, closing any descriptor of a
     * file releases all locks of the process on it.
     */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    /** @throws UnusableJournalException when the journal is in use, by another process or by this one */
    static JournalLock of(Path path) throws IOException {
        Path file = path.resolveSibling(path.getFileName() + ".lock").toAbsolutePath();
        if (!OURS.add(file)) {
            throw inUse(path);
        }
        try {
            return new JournalLock(file, locked(file, path));
        } catch (IOException | RuntimeException e) {
            OURS.remove(file);
            throw e;
        }
    }

    private static FileChannel locked(Path file, Path path) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() == null) {
                throw inUse(path);
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static UnusableJournalException inUse(Path path) {
        return new UnusableJournalException(
                "usage journal %s: in use already (expected: one process for each file)".formatted(path));
    }

    @Override
    public void close() throws IOException {
        held.close();
        OURS.remove(file);
    }
}
