package io.fairgate.spring.policyfile;

import io.fairgate.policy.Policy;
import io.fairgate.spring.metrics.Meter;
import io.fairgate.spring.settings.FairgateProperties;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** What a policy needs of the application: its beans, and if the policy is in a file, its routes, their checks, and its reload. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import(ResolverBeans.class)
public class PolicyFileConfiguration {

    private static final int HASH_DIGITS = 12;

    /** Without Spring Cloud Gateway, the policy of a file does not change. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(PolicySource.class)
    @ConditionalOnProperty(name = GatewayProperties.PREFIX + ".enabled", matchIfMissing = true)
    @Import({
        LiveRoutes.class,
        PolicyCheck.class,
        PolicyEndpoint.class,
        PolicyInfo.class,
        PolicyReload.class,
        RouteCheck.class,
        UpstreamConnections.class
    })
    static class RoutesOfFile {

        /** The code of an application may use any pool. */
        @Bean
        @ConditionalOnMissingBean
        PoolUsers fairgatePoolUsers() {
            return () -> true;
        }

        @Bean
        @ConditionalOnMissingBean
        PolicyHealth fairgatePolicyHealthIndicator(PolicyReload reload) {
            return new PolicyHealth(reload);
        }

        @Bean
        MeterBinder fairgatePolicyHash(PolicyReload reload) {
            return registry -> Meter.POLICY_HASH.register(
                    registry, Tags.empty(), () -> hash(reload.latest().sha256()));
        }

        /** As many digits as a number of Prometheus can have exactly. */
        private static double hash(String sha256) {
            return sha256.isEmpty() ? 0 : Long.parseLong(sha256.substring(0, HASH_DIGITS), 16);
        }

        @Bean
        WatchedPolicy fairgateWatchedPolicy(PolicySource source, PolicyReload reload, FairgateProperties settings) {
            return new WatchedPolicy(source, reload, settings.watchPolicy().value());
        }
    }
}
