package io.fairgate.spring.quota;

import io.fairgate.quota.journal.JournalListener;
import io.fairgate.spring.metrics.Meter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs when the usage journal cannot be written and when it can be again, counts the failures, and holds the current
 * one.
 */
final class JournalLog implements JournalListener, MeterBinder {

    private static final Logger log = LoggerFactory.getLogger(JournalLog.class);

    private final Path file;
    private final Counter failures;
    private final InstantSource clock;
    private volatile @Nullable Failure failure;

    /** Why the journal cannot be written, and since when. */
    record Failure(String cause, Instant since) {}

    JournalLog(Path file, Counter failures, InstantSource clock) {
        this.file = file;
        this.clock = clock;
        this.failures = failures;
    }

    Path file() {
        return file;
    }

    /** The current failure; null while the journal can be written. */
    @Nullable
    Failure failure() {
        return failure;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder(Meter.JOURNAL_FAILING.id(), () -> failure == null ? 0 : 1)
                .description(Meter.JOURNAL_FAILING.description())
                .register(registry);
    }

    @Override
    public void changed(@Nullable IOException cause) {
        if (cause == null) {
            failure = null;
        } else {
            failure = new Failure(cause.toString(), clock.instant());
            failures.increment();
        }
    }

    @Override
    public void failed(IOException cause) {
        log.error(
                "The usage journal {} cannot be written: {}. Quotas are counted in memory until it can; what is used meanwhile is lost if this process ends.",
                file,
                cause.toString());
    }

    @Override
    public void recovered() {
        log.info("The usage journal {} is written again.", file);
    }

    @Override
    public void ranAhead(String what) {
        log.warn(
                "The usage journal {} has usage of the future, so the clock ran ahead then, or is behind now: {}. What can be done is in docs/quotas.md.",
                file,
                what);
    }
}
