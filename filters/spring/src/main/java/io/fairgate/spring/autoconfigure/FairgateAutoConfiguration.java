package io.fairgate.spring.autoconfigure;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.policy.PolicyFileReader;
import io.fairgate.policy.Policy;
import io.fairgate.spring.actuator.ActuatorConfiguration;
import io.fairgate.spring.admission.AdmissionConfiguration;
import io.fairgate.spring.explain.ExplainConfiguration;
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
import io.fairgate.spring.whatif.WhatIfConfiguration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
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
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

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
    ExplainConfiguration.class,
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
    PolicyFileConfiguration.class,
    WhatIfConfiguration.class
})
public class FairgateAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(FairgateAutoConfiguration.class);
    private static final String POLICY = "fairgate.policy";
    private static final String FILE = POLICY + ".file";
    private static final String ENABLED = POLICY + ".enabled";

    /** An empty name, as of a variable that is not set, is none. */
    static final class OnFile implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            return StringUtils.hasText(environment.getProperty(FILE))
                    && environment.getProperty(ENABLED, Boolean.class, true);
        }
    }

    /** The policy from a file. Ordered: conditions see only the beans that are defined already. */
    @Configuration(proxyBeanMethods = false)
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @Conditional(OnFile.class)
    @ConditionalOnMissingBean(Policy.class)
    static class PolicyFromFile {
        @Bean
        PolicySource fairgatePolicySource(Environment environment) {
            return file(environment);
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

    /** The application has a bean of type {@link Policy}, which comes first. */
    @Configuration(proxyBeanMethods = false)
    @Order(Ordered.HIGHEST_PRECEDENCE + 1)
    @Conditional(OnFile.class)
    @ConditionalOnMissingBean(PolicySource.class)
    static class FileNotRead {
        @Bean
        SmartInitializingSingleton fairgateFileNotRead() {
            return () -> log.warn("{} is not read, because a bean of type Policy is the policy", FILE);
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
    static PolicySource file(Environment environment) {
        Map<String, Object> tree = PolicyProperties.below(
                ConfigurationPropertyName.of(POLICY),
                ConfigurationPropertySources.get(environment),
                Binder.get(environment));
        List<Mistake> mistakes = new ArrayList<>();
        tree.keySet().stream()
                .filter(PolicyFileReader::isPart)
                .forEach(key -> mistakes.add(new Mistake(
                        "", 0, POLICY + "." + key, "beside " + FILE, "a policy in the file, or in properties")));
        String file = environment.getRequiredProperty(FILE).strip();
        if (file.startsWith("classpath:") || file.startsWith("file:")) {
            mistakes.add(new Mistake("", 0, FILE, file, "a path in the file system, without a prefix"));
        }
        if (!mistakes.isEmpty()) {
            throw new InvalidPolicyException(mistakes, PolicyFile.NOTHING);
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
