package io.fairgate.gateway.policy;

import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.settings.DurationSetting;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The policy file of a running gateway: its routes, their checks, and its reload. */
@Configuration(proxyBeanMethods = false)
public class PolicyFileConfiguration {

    @Bean
    LiveRoutes liveRoutes(PolicySource source, ApplicationEventPublisher events) {
        return new LiveRoutes(PolicyRoutes.of(source.name(), source.first().routes()), events);
    }

    @Bean
    PolicyReload policyReload(PolicySource source, PolicyHolder policy, LiveRoutes routes, PolicyCheck check) {
        return new PolicyReload(source, policy, routes, check);
    }

    @Bean
    PolicyCheck policyCheck(RouteCheck routes, HttpClientProperties upstreams) {
        return new PolicyCheck(routes, new UpstreamConnections(upstreams));
    }

    @Bean
    PolicyEndpoint policyEndpoint(PolicyReload reload) {
        return new PolicyEndpoint(reload);
    }

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
                health.withDetail("mistakes", latest.mistakes());
            }
            return health.build();
        };
    }

    @Bean
    WatchedPolicy watchedPolicy(
            PolicySource source, PolicyReload reload, @Value("${fairgate.watch-policy}") DurationSetting every) {
        return new WatchedPolicy(source, reload, every.value());
    }

    @Bean
    RouteCheck routeCheck(
            LiveRoutes routes,
            List<GatewayFilterFactory<?>> filters,
            List<RoutePredicateFactory<?>> predicates,
            RouteLocator locator,
            ConfigurationService arguments) {
        return new RouteCheck(routes, filters, predicates, locator, arguments);
    }
}
