package io.fairgate.gateway.policy;

import io.fairgate.gateway.policy.PolicyReload.Report;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The result of the latest reload of the policy file. Never down: a gateway whose file was refused serves by the previous
 * policy, and taking it out of service would turn a mistake in a file into an outage.
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
