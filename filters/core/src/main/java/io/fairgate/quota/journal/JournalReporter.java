package io.fairgate.quota.journal;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Calls the listener of a journal: for changes only, one call at a time, and catches what it throws.
 *
 * <p>Calls that may take long, such as a line in a log, run on a thread of their own, which lives as long as there are calls
 * to make. At most a failure and its end are pending: of failures that began and ended while the log was slow at most the
 * last one is reported. So calls do not pile up, and the last call reports the true state.
 */
final class JournalReporter {

    /** The most usages that are named when their windows have not begun. */
    private static final int NAMED = 5;

    private final JournalListener listener;
    /** The present failure; null when the journal can be written. */
    private @Nullable IOException failure;

    /** The last failure that was not reported to {@link JournalListener#failed} yet. */
    private @Nullable IOException unreported;
    /** Whether the last report was a failure. */
    private boolean isFailureReported;

    private @Nullable Thread thread;

    JournalReporter(JournalListener listener) {
        this.listener = listener;
    }

    /**
     * Reports the state. Returns as soon as {@link JournalListener#changed} has returned.
     *
     * @param latest reads the present state: several threads call this, and the state that one of them has seen may be old
     */
    synchronized void report(Supplier<@Nullable IOException> latest) {
        IOException cause = latest.get();
        if ((cause != null) != (failure != null)) {
            failure = cause;
            unreported = cause != null ? cause : unreported;
            guard(() -> listener.changed(cause));
            if (thread == null) {
                Thread next = new Thread(this::reportAll, "fairgate-journal-reports");
                next.setDaemon(true);
                guard(next::start);
                // If no thread could be started, the next change tries again.
                thread = next.isAlive() ? next : null;
            }
        }
    }

    private void reportAll() {
        for (Runnable report = next(); report != null; report = next()) {
            guard(report);
        }
    }

    private synchronized @Nullable Runnable next() {
        IOException cause = unreported;
        if (isFailureReported && failure == null) {
            isFailureReported = false;
            unreported = null;
            return listener::recovered;
        } else if (!isFailureReported && cause != null) {
            isFailureReported = true;
            unreported = null;
            return () -> listener.failed(cause);
        }
        thread = null;
        return null;
    }

    /** Blocks until all pending calls have been made, but no longer than {@code longest}. */
    void awaitReports(Duration longest) throws InterruptedException {
        Thread reporting;
        synchronized (this) {
            reporting = thread;
        }
        if (reporting != null) {
            reporting.join(longest.toMillis());
        }
    }

    void reportWindowsAfter(Instant now, Collection<JournalRecord> records) {
        List<String> ahead = records.stream()
                .filter(record -> record.window().startMillis() > now.toEpochMilli())
                .map(JournalRecord::label)
                .sorted()
                .toList();
        if (!ahead.isEmpty()) {
            String named = String.join("; ", ahead.subList(0, Math.min(NAMED, ahead.size())));
            String others = ahead.size() > NAMED ? "; and %d more".formatted(ahead.size() - NAMED) : "";
            guard(() -> listener.ranAhead("used in a window that begins after %s, and charged to it until it ends: %s%s"
                    .formatted(now, named, others)));
        }
    }

    static void guard(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error bug) {
            drop(bug);
        }
    }

    /** Passes the error to Reactor's hook for dropped errors; if the hook throws as well, the error is lost. */
    private static void drop(Throwable bug) {
        try {
            Operators.onErrorDropped(bug, Context.empty());
        } catch (RuntimeException | Error broken) {
            bug.addSuppressed(broken);
        }
    }
}
