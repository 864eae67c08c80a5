package io.fairgate.boot.lease;

import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A {@link LeaseClient} where {@code fairgate.lease-client.uri} is set. A bean of type {@link LeaseClientSettings} replaces the
 * properties, as for a credential that changes; a bean of type {@link LeaseClient} replaces the client. The client is closed with the
 * application.
 */
@AutoConfiguration
@ConditionalOnClass(LeaseClient.class)
public class LeaseClientAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(LeaseClientProperties.PREFIX + ".uri")
    @ConditionalOnMissingBean({LeaseClientSettings.class, LeaseClient.class})
    @EnableConfigurationProperties(LeaseClientProperties.class)
    static class Settings {
        @Bean
        LeaseClientSettings fairgateLeaseClientSettings(LeaseClientProperties properties) {
            return properties.settings();
        }
    }

    @Bean
    @ConditionalOnBean(LeaseClientSettings.class)
    @ConditionalOnMissingBean
    LeaseClient fairgateLeaseClient(LeaseClientSettings settings) {
        return LeaseClient.to(settings);
    }
}
