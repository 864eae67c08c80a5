package io.fairgate.quota;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * That one process has a journal: a lock on a file beside it, not on the journal itself, which is replaced from time to
 * time. The system lets go of it when the process ends, however it ends.
 */
record JournalLock(Path file, FileChannel held) implements AutoCloseable {

    /**
     * Those of this process. It must not even open the file of one that it has: on Linux closing any descriptor of a file
     * gives away all locks that the process has on it.
     */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    /** @throws UnusableJournalException when somebody else has it */
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
