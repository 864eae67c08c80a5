package io.fairgate.spring.quota;

import io.fairgate.spring.quota.JournalLog.Failure;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Whether the usage journal is written. Never down: while it is not, quotas are counted in memory and nothing is refused
 * for it, and to take every gateway out of service whose disk is full would make an outage of it.
 */
final class JournalHealth implements HealthIndicator {

    private final JournalLog log;

    JournalHealth(JournalLog log) {
        this.log = log;
    }

    @Override
    public Health health() {
        Failure failure = log.failure();
        Health.Builder health =
                Health.up().withDetail("file", log.file().toString()).withDetail("written", failure == null);
        if (failure != null) {
            health.withDetail("cause", failure.cause()).withDetail("since", failure.since());
        }
        return health.build();
    }
}
