package io.fairgate.gateway.policy;

import io.fairgate.config.model.Mistake;
import io.fairgate.spring.settings.DurationSetting;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The policy file of a running gateway: its routes, their checks, and its reload. */
@Configuration(proxyBeanMethods = false)
@Import({
    LiveRoutes.class,
    PolicyCheck.class,
    PolicyEndpoint.class,
    PolicyReload.class,
    RouteCheck.class,
    UpstreamConnections.class
})
public class PolicyFileConfiguration {

    /**
     * The result of the latest reload of the policy file. Never down: a gateway whose file was refused serves by the previous
     * policy, and taking it out of service would turn a mistake in a file into an outage.
     */
    @Bean
    HealthIndicator policyHealthIndicator(PolicyReload reload) {
        return () -> {
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
        };
    }

    @Bean
    WatchedPolicy watchedPolicy(
            PolicySource source, PolicyReload reload, @Value("${fairgate.watch-policy}") DurationSetting every) {
        return new WatchedPolicy(source, reload, every.value());
    }
}
