package io.fairgate.quota;

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
 * Tells a listener how the journal fares: changes only, one at a time, and keeps what it throws away from the journal.
 *
 * <p>What may take long, a line in a log, is told on a thread of its own, which lives as long as there is something to
 * tell. That is a failure and its end at most: of those that came and went while a log took nothing the last is told, if
 * any, so nothing piles up, and what is told last is true.
 */
final class JournalNews {

    /** So many usages are named when their windows have not begun. */
    private static final int NAMED = 5;

    private final JournalListener listener;
    /** How it is by now; null when all is well. */
    private @Nullable IOException failure;

    /** The last one of which nobody has heard yet. */
    private @Nullable IOException untold;
    /** Whether what was told last is a failure. */
    private boolean isFailureTold;

    private @Nullable Thread teller;

    JournalNews(JournalListener listener) {
        this.listener = listener;
    }

    /**
     * Returns as soon as the listener has {@linkplain JournalListener#changed taken it down}.
     *
     * @param latest what it is by now: several threads come here, and what one of them has seen may be over
     */
    synchronized void tell(Supplier<@Nullable IOException> latest) {
        IOException cause = latest.get();
        if ((cause != null) != (failure != null)) {
            failure = cause;
            untold = cause != null ? cause : untold;
            guard(() -> listener.changed(cause));
            if (teller == null) {
                Thread next = new Thread(this::tellAll, "fairgate-journal-news");
                next.setDaemon(true);
                guard(next::start);
                // Without one, the next change tries again.
                teller = next.isAlive() ? next : null;
            }
        }
    }

    private void tellAll() {
        for (Runnable news = next(); news != null; news = next()) {
            guard(news);
        }
    }

    private synchronized @Nullable Runnable next() {
        IOException cause = untold;
        if (isFailureTold && failure == null) {
            isFailureTold = false;
            untold = null;
            return listener::recovered;
        } else if (!isFailureTold && cause != null) {
            isFailureTold = true;
            untold = null;
            return () -> listener.failed(cause);
        }
        teller = null;
        return null;
    }

    /** Blocks until all is told, but no longer than {@code longest}. */
    void awaitTold(Duration longest) throws InterruptedException {
        Thread telling;
        synchronized (this) {
            telling = teller;
        }
        if (telling != null) {
            telling.join(longest.toMillis());
        }
    }

    void tellOfWindowsAfter(Instant now, Collection<JournalRecord> records) {
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

    /** To Reactor's hook for such errors; should that throw as well, nobody is left who could be told. */
    private static void drop(Throwable bug) {
        try {
            Operators.onErrorDropped(bug, Context.empty());
        } catch (RuntimeException | Error broken) {
            bug.addSuppressed(broken);
        }
    }
}
