package io.fairgate.gateway.policy;

import io.fairgate.gateway.policy.PolicyReload.Report;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * What became of the policy file lately. Never down: a gateway whose file was refused serves by the policy before, and
 * taking it out of service would make a mistake in a file an outage.
 */
final class PolicyHealth implements HealthIndicator {

    private final PolicyReload reload;

    PolicyHealth(PolicyReload reload) {
        this.reload = reload;
    }

    @Override
    public Health health() {
        Report latest = reload.latest();
        Health.Builder health = Health.up()
                .withDetail("file", latest.file())
                .withDetail("result", latest.result())
                .withDetail("at", latest.at());
        if (!latest.mistakes().isEmpty()) {
            health.withDetail("mistakes", latest.mistakes());
        }
        return health.build();
    }
}
