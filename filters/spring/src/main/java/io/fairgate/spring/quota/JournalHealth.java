package io.fairgate.spring.quota;

import io.fairgate.spring.quota.JournalLog.Failure;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Shows whether the usage journal can be written. Never down: while it cannot, quotas are counted in memory and no
 * request is refused for it. To take every gateway with a full disk out of service would cause an outage.
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
