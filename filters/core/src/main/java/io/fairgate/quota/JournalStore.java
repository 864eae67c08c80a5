package io.fairgate.quota;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;

/** Where the records of a journal are kept. Written by one thread at a time. */
interface JournalStore extends AutoCloseable {

    /** The last record of each key, as it is by now; from any thread. */
    Map<JournalRecord.Key, JournalRecord> live();

    /** Returns when all of them will be found after a crash; blocks until then. After a failure none of them counts. */
    void write(Collection<JournalRecord> records) throws IOException;

    @Override
    void close() throws IOException;
}
