package io.fairgate.gateway.redis;

import io.fairgate.gateway.lease.LeaseSettings;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.spring.fairshare.PermitPools;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The backend of the pools. Without a bean of this configuration, the starter makes pools in this process. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(BackendSettings.class)
public class BackendConfiguration {

    /** Pools in Redis. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = BackendSettings.PROPERTY, havingValue = "redis")
    @EnableConfigurationProperties(RedisServerSettings.class)
    static class InRedis {

        InRedis(LeaseSettings leases) {
            if (leases.enabled()) {
                throw new LeasesNotSharedException(LeaseSettings.PREFIX + ".enabled");
            }
            if (leases.throttle().enabled()) {
                throw new LeasesNotSharedException(LeaseSettings.THROTTLE + ".enabled");
            }
        }

        @Bean
        RedisConnections redisConnections(RedisServerSettings settings, SslBundles bundles) {
            return new RedisConnections(settings.address(bundles));
        }

        @Bean
        RedisPools redisPools(RedisConnections connections, BackendSettings settings) {
            return new RedisPools(connections, settings.redis().failover().value());
        }

        @Bean
        SliceHealth slicesHealthIndicator(PermitPools pools) {
            return new SliceHealth(pools);
        }
    }
}
