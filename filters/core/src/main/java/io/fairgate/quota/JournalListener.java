package io.fairgate.quota;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Hears how a {@link UsageJournal} fares. What it throws goes to Reactor's hook for dropped errors.
 *
 * <p>{@link #changed} is called at once, on any of several threads, one at a time, and is waited for: it notes how it is,
 * for whoever asks. The others are for people, and may take as long as a log does: they are called on a thread of their
 * own, one at a time, and not for what was over before its turn came.
 */
public interface JournalListener {

    /**
     * How it is from now on. Must not block: the journal waits for it.
     *
     * @param failure why it cannot be written; null when it can
     */
    void changed(@Nullable IOException failure);

    /**
     * It cannot be written, or a write takes too long: from now on usage is counted in memory alone, and is lost if the
     * process ends before it can be written.
     */
    void failed(IOException cause);

    /** What is used is written again, that of the time between included. */
    void recovered();

    /**
     * Told at the start, on the thread of whoever starts, when units were used of windows that have not begun: the clock ran ahead then, or is behind now.
     *
     * @param what which they are, and what that means, in a sentence
     */
    void ranAhead(String what);
}
