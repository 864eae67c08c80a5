package io.fairgate.spring.autoconfigure;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.policy.Policy;
import io.fairgate.spring.actuator.ActuatorConfiguration;
import io.fairgate.spring.admission.AdmissionConfiguration;
import io.fairgate.spring.fairshare.FairShareConfiguration;
import io.fairgate.spring.forward.DispatchConfiguration;
import io.fairgate.spring.forward.ForwardConfiguration;
import io.fairgate.spring.identity.IdentityConfiguration;
import io.fairgate.spring.metrics.MetricsConfiguration;
import io.fairgate.spring.policy.PolicyConfiguration;
import io.fairgate.spring.policyfile.PolicyFileConfiguration;
import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicySource;
import io.fairgate.spring.proxy.ProxyConfiguration;
import io.fairgate.spring.quota.QuotaConfiguration;
import io.fairgate.spring.refusal.RefusalConfiguration;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.spring.upstream.UpstreamConfiguration;
import io.fairgate.spring.websocket.WebSocketConfiguration;
import java.nio.file.Path;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Adds Fairgate to a Spring Cloud Gateway that has a {@link Policy}: a bean of that type, a file that {@code fairgate.policy.file}
 * names, or the properties under {@code fairgate.policy} together with {@code fairgate.policy.enabled=true}. Without one it adds nothing.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(GlobalFilter.class)
@EnableConfigurationProperties(FairgateProperties.class)
@Import({
    PolicyConfiguration.class,
    MetricsConfiguration.class,
    RefusalConfiguration.class,
    IdentityConfiguration.class,
    QuotaConfiguration.class,
    FairShareConfiguration.class,
    AdmissionConfiguration.class,
    WebSocketConfiguration.class,
    ProxyConfiguration.class,
    UpstreamConfiguration.class,
    ForwardConfiguration.class,
    DispatchConfiguration.class,
    ActuatorConfiguration.class,
    PolicyFileConfiguration.class
})
public class FairgateAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(FairgateAutoConfiguration.class);
    private static final String POLICY = "fairgate.policy";
    private static final String FILE = POLICY + ".file";
    private static final String ENABLED = POLICY + ".enabled";

    /** The policy from a file. Ordered: conditions see only the beans that are defined already. */
    @Configuration(proxyBeanMethods = false)
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @ConditionalOnProperty(FILE)
    @ConditionalOnBooleanProperty(name = ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(Policy.class)
    static class PolicyFromFile {
        @Bean
        PolicySource fairgatePolicySource(Environment environment) {
            return file(ConfigurationPropertySources.get(environment), Binder.get(environment));
        }

        @Bean
        Policy fairgatePolicy(PolicySource source) {
            return source.first().policy();
        }

        /** When all is checked. */
        @Bean
        SmartInitializingSingleton fairgatePolicyReport(ObjectProvider<PolicyReload> reload) {
            return () -> reload.ifAvailable(policy -> {
                PolicyReload.Report first = policy.latest();
                log.info("Policy {}: {}", first.file(), first.contents());
                first.warnings().forEach(warning -> log.warn("{}", warning));
            });
        }
    }

    /** The policy from Spring's properties. */
    @Configuration(proxyBeanMethods = false)
    @Order(Ordered.HIGHEST_PRECEDENCE + 1)
    @ConditionalOnProperty(ENABLED)
    @ConditionalOnMissingBean(Policy.class)
    static class PolicyFromProperties {
        @Bean
        Policy fairgatePolicy(Environment environment) {
            return policy(ConfigurationPropertySources.get(environment), Binder.get(environment));
        }
    }

    /** Throws with every mistake of the file, and for each property of a policy beside it. */
    static PolicySource file(Iterable<ConfigurationPropertySource> sources, Binder binder) {
        Map<String, Object> tree = PolicyProperties.below(ConfigurationPropertyName.of(POLICY), sources, binder);
        tree.remove("enabled");
        String file = String.valueOf(tree.remove("file"));
        if (!tree.isEmpty()) {
            throw new InvalidPolicyException(
                    tree.keySet().stream()
                            .map(key -> new Mistake(
                                    "",
                                    0,
                                    POLICY + "." + key,
                                    "beside " + FILE,
                                    "a policy in the file, or in properties"))
                            .toList(),
                    PolicyFile.NOTHING);
        }
        return PolicySource.of(Path.of(file));
    }

    /** Throws with every mistake of the properties, and logs the warnings. */
    static Policy policy(Iterable<ConfigurationPropertySource> sources, Binder binder) {
        Map<String, Object> tree = PolicyProperties.below(ConfigurationPropertyName.of(POLICY), sources, binder);
        tree.remove("enabled");
        PolicyFile read = PolicyReader.readProperties(POLICY, tree);
        read.warnings().forEach(warning -> log.warn("{}", warning));
        return read.policy();
    }
}
