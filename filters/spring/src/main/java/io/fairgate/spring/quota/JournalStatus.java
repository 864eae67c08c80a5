package io.fairgate.spring.quota;

import io.fairgate.quota.journal.JournalListener;
import io.fairgate.spring.metrics.Meter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Shows in the log, the metrics and the health whether the usage journal can be written. The health is never down:
 * meanwhile quotas are counted in memory, and to take every gateway with a full disk out of service would be an outage.
 */
final class JournalStatus implements JournalListener, MeterBinder, HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(JournalStatus.class);

    private final Path file;
    private final Counter failures;
    private final InstantSource clock;
    /** Why the journal cannot be written, and since when; null while it can be written. */
    private volatile @Nullable Failure failure;

    private record Failure(String cause, Instant since) {}

    JournalStatus(Path file, Counter failures, InstantSource clock) {
        this.file = file;
        this.clock = clock;
        this.failures = failures;
    }

    Path file() {
        return file;
    }

    @Override
    public Health health() {
        Failure now = failure;
        Health.Builder health = Health.up().withDetail("file", file.toString()).withDetail("written", now == null);
        if (now != null) {
            health.withDetail("cause", now.cause()).withDetail("since", now.since());
        }
        return health.build();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Meter.JOURNAL_FAILING.register(registry, Tags.empty(), () -> failure == null ? 0 : 1);
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
                "The usage journal {} cannot be written: {}. Until it can be, quotas are counted in memory, and that usage is lost if this process ends.",
                file,
                cause.toString());
    }

    @Override
    public void recovered() {
        log.info("The usage journal {} can be written again.", file);
    }

    @Override
    public void ranAhead(String what) {
        log.warn(
                "The usage journal {} has usage of the future: {}. The clock was ahead then, or is behind now; see docs/quotas.md.",
                file,
                what);
    }
}
