package io.fairgate.quota;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * That one process has a journal: a lock on a file beside it, not on the journal itself, which is replaced from time to
 * time. The system lets go of it when the process ends, however it ends.
 */
record JournalLock(FileChannel held) implements AutoCloseable {

    /** @throws UnusableJournalException when somebody else has it */
    static JournalLock of(Path path) throws IOException {
        FileChannel channel = FileChannel.open(
                path.resolveSibling(path.getFileName() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return new JournalLock(channel);
            }
        } catch (OverlappingFileLockException e) {
            // Another one in this process, which is the same to us.
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        throw new UnusableJournalException(
                "usage journal %s: in use already (expected: one process for each file)".formatted(path));
    }

    @Override
    public void close() throws IOException {
        held.close();
    }
}
