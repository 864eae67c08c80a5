package io.fairgate.quota;

import java.io.IOException;

/**
 * Hears how a {@link UsageJournal} fares: on any of several threads, one call at a time, once for each change. What it
 * throws goes to Reactor's hook for dropped errors.
 */
public interface JournalListener {

    /**
     * It cannot be written, or a write takes too long: from now on usage is counted in memory alone, and is lost if the
     * process ends before it can be written.
     */
    void failed(IOException cause);

    /** What is used is written again, that of the time between included. */
    void recovered();

    /**
     * Told at the start, when units were used of windows that have not begun: the clock ran ahead then, or is behind now.
     *
     * @param what which they are, and what that means, in a sentence
     */
    void ranAhead(String what);
}
