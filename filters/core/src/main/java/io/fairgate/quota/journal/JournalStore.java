package io.fairgate.quota.journal;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;

/** The storage of a journal's records. Written by one thread at a time. */
public interface JournalStore extends AutoCloseable {

    /** A live view of the last record of each key; safe for any thread. */
    Map<UsageKey, JournalRecord> live();

    /** Blocks until all records are durable: they will be found after a crash. If it throws, none of them counts. */
    void write(Collection<JournalRecord> records) throws IOException;

    @Override
    void close() throws IOException;
}
