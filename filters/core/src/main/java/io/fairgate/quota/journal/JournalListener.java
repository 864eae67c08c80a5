package io.fairgate.quota.journal;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the state of a {@link UsageJournal}. An exception goes to Reactor's hook for dropped errors.
 *
 * <p>{@link #changed} is called at once, on any of several threads, one call at a time, and the journal waits for it: it
 * stores the state for health checks. {@link #failed} and {@link #recovered} are for logs and may take as long as a log does:
 * they are called on a thread of their own, one at a time. Failures that begin and end during such a call may be left out.
 */
public interface JournalListener {

    /**
     * The state of the journal has changed. Must not block: the journal waits for it.
     *
     * @param failure why the journal cannot be written; null when it can
     */
    void changed(@Nullable IOException failure);

    /**
     * The journal cannot be written, or a write takes too long. From now on usage is counted in memory only, and is lost if
     * the process ends before the journal can be written again.
     */
    void failed(IOException cause);

    /** The journal is written again; the usage since the failure has been written too. */
    void recovered();

    /**
     * At the start, the journal has usage of windows that have not begun: the clock was ahead then, or is behind now. Called on
     * the thread that makes the quotas with this journal.
     *
     * @param what the windows and the consequences, in one sentence
     */
    void ranAhead(String what);
}
