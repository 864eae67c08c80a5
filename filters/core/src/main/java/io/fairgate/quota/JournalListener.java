package io.fairgate.quota;

import java.io.IOException;

/** Hears when a {@link UsageJournal} cannot write, and when it can again; on its thread, once for each change. */
public interface JournalListener {

    /** From now on usage is counted in memory alone: what is used is lost if the process ends before it can be written. */
    void failed(IOException cause);

    /** What is used is written again. */
    void recovered();
}
