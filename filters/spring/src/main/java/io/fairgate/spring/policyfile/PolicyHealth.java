package io.fairgate.spring.policyfile;

import io.fairgate.config.model.Mistake;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The result of the latest reload of the policy file. Never down: a gateway whose file was refused serves by the previous
 * policy, and taking it out of service would turn a mistake in a file into an outage.
 */
public record PolicyHealth(PolicyReload reload) implements HealthIndicator {

    @Override
    public Health health() {
        PolicyReload.Report latest = reload.latest();
        Health.Builder health = Health.up()
                .withDetail("file", latest.file())
                .withDetail("result", latest.result())
                .withDetail("at", latest.at());
        if (!latest.mistakes().isEmpty()) {
            health.withDetail(
                    "mistakes",
                    latest.mistakes().stream().map(Mistake::toString).toList());
        }
        return health.build();
    }
}
