package io.fairgate.gateway.redis;

import io.fairgate.gateway.redis.BackendSettings.QuotaOutage;
import io.fairgate.redis.quota.RedisQuotas;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** Down while Redis does not answer for quotas. Readiness does not depend on it, as on {@link SliceHealth}. */
final class QuotaHealth implements HealthIndicator {

    private final RedisQuotas quotas;

    private final QuotaOutage outage;

    QuotaHealth(RedisQuotas quotas, QuotaOutage outage) {
        this.quotas = quotas;
        this.outage = outage;
    }

    @Override
    public Health health() {
        String failure = quotas.failure();
        return failure == null
                ? Health.up().build()
                : Health.down()
                        .withDetail(
                                "redis",
                                "no answer: requests that have quotas are %s; %s"
                                        .formatted(
                                                outage == QuotaOutage.FAIL_OPEN
                                                        ? "served and not charged (fail-open)"
                                                        : "refused (backend-lost)",
                                                failure))
                        .build();
    }
}
