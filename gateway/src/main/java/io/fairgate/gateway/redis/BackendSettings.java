package io.fairgate.gateway.redis;

import io.fairgate.spring.settings.DurationSetting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where pools and quotas are.
 *
 * @param backend in this process, or in Redis
 * @param redis settings of the pools in Redis; where Redis is, {@link RedisServerSettings} say
 */
@ConfigurationProperties("fairgate")
public record BackendSettings(
        @DefaultValue("embedded") Backend backend,
        @DefaultValue Redis redis) {

    static final String PROPERTY = "fairgate.backend";

    /** Where pools and quotas are. */
    public enum Backend {
        /** Each gateway has its own. */
        EMBEDDED,
        /** All gateways on the same Redis share them. */
        REDIS
    }

    /**
     * Settings of the pools in Redis.
     *
     * @param failover how long a server of Redis that was replaced by another may go on to accept writes
     */
    public record Redis(@DefaultValue("1s") DurationSetting failover) {

        /** @throws IllegalArgumentException when the time is negative */
        public Redis {
            if (failover.value().isNegative()) {
                throw new IllegalArgumentException(
                        "fairgate.redis.failover: %s (expected: >= 0)".formatted(failover.value()));
            }
        }
    }
}
