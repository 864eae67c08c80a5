package io.fairgate.boot.lease;

import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * A {@link LeaseClient} where {@code fairgate.lease-client.uri} is set. A bean of type {@link LeaseClientSettings} replaces the
 * properties, as for a credential that changes; a bean of type {@link LeaseClient} replaces the client. The client is closed with the
 * application.
 */
@AutoConfiguration
@ConditionalOnClass(LeaseClient.class)
@EnableConfigurationProperties(LeaseClientProperties.class)
public class LeaseClientAutoConfiguration {

    /** An empty address, as of a variable that is not set, is none. */
    static final class OnAddress implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return StringUtils.hasText(context.getEnvironment().getProperty(LeaseClientProperties.PREFIX + ".uri"));
        }
    }

    @Bean
    @Conditional(OnAddress.class)
    @ConditionalOnMissingBean({LeaseClientSettings.class, LeaseClient.class})
    LeaseClientSettings fairgateLeaseClientSettings(LeaseClientProperties properties) {
        return properties.settings();
    }

    @Bean
    @ConditionalOnBean(LeaseClientSettings.class)
    @ConditionalOnMissingBean
    LeaseClient fairgateLeaseClient(LeaseClientSettings settings) {
        return LeaseClient.to(settings);
    }
}
