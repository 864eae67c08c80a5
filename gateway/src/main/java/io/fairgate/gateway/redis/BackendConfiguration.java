package io.fairgate.gateway.redis;

import io.fairgate.gateway.check.CheckOnly;
import io.fairgate.gateway.lease.LeaseConfiguration;
import io.fairgate.gateway.lease.LeaseSettings;
import io.fairgate.lease.LeasedPools;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.lease.RedisLeases;
import io.fairgate.redis.quota.RedisQuotas;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.metrics.FairgateMeters;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** The backend of pools, quotas and leases. Without beans of this configuration, the starter has them in this process. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(BackendSettings.class)
public class BackendConfiguration {

    private static final String JOURNAL = "fairgate.quotas.journal";

    /** Pools, quotas and leases in Redis. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = BackendSettings.PROPERTY, havingValue = "redis")
    @EnableConfigurationProperties(RedisServerSettings.class)
    static class InRedis {

        InRedis(LeaseSettings leases, Environment environment) {
            if (leases.fencingFile() != null) {
                throw NotWithRedisException.fencingFile(
                        LeaseSettings.PREFIX + ".fencing-file",
                        leases.fencingFile().toString());
            }
            String journal = environment.getProperty(JOURNAL);
            if (StringUtils.hasLength(journal)) {
                throw NotWithRedisException.journal(JOURNAL, journal);
            }
        }

        @Bean
        RedisAddress redisAddress(RedisServerSettings settings, SslBundles bundles) {
            return settings.address(bundles);
        }

        /** What connects to Redis. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnMissingBean(CheckOnly.class)
        static class Connected {

            @Bean
            RedisConnections redisConnections(RedisAddress address) {
                return new RedisConnections(address);
            }

            @Bean
            RedisPools redisPools(RedisConnections connections, BackendSettings settings) {
                return new RedisPools(
                        connections,
                        settings.redis().failover().value(),
                        settings.redis().outagePolicy());
            }

            @Bean
            RedisQuotas redisQuotas(RedisConnections connections, BackendSettings settings, FairgateMeters meters) {
                return RedisQuotas.start(
                        connections, settings.redis().quotaOutagePolicy(meters.quotaUncharged()::increment));
            }

            /** A condition on a bean would come too late. */
            @Configuration(proxyBeanMethods = false)
            @Conditional(LeaseConfiguration.Wanted.class)
            static class Leased {

                @Bean(destroyMethod = "") // the lease port closes them
                RedisLeases redisLeases(RedisPools pools, LeasedPools found) {
                    return pools.newLeases(found);
                }
            }

            @Bean
            QuotaHealth quotasHealthIndicator(RedisQuotas quotas, BackendSettings settings) {
                return new QuotaHealth(quotas, settings.redis().quotaOutage());
            }

            @Bean
            SliceHealth slicesHealthIndicator(PermitPools pools) {
                return new SliceHealth(pools);
            }
        }
    }
}
