package io.fairgate.quota;

import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Tells a listener how the journal fares: changes only, one at a time, and keeps what it throws away from the journal. */
final class JournalNews {

    /** So many usages are named when their windows have not begun. */
    private static final int NAMED = 5;

    private final JournalListener listener;
    private boolean isFailureTold;

    JournalNews(JournalListener listener) {
        this.listener = listener;
    }

    /** @param failure what it is by now: several threads come here, and what one of them has seen may be over */
    synchronized void tell(Supplier<@Nullable IOException> failure) {
        IOException cause = failure.get();
        if (cause != null && !isFailureTold) {
            guard(() -> listener.failed(cause));
        } else if (cause == null && isFailureTold) {
            guard(listener::recovered);
        }
        isFailureTold = cause != null;
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
