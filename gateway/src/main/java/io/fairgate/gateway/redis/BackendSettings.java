package io.fairgate.gateway.redis;

import io.fairgate.redis.quota.QuotaOutagePolicy;
import io.fairgate.redis.slice.OutagePolicy;
import io.fairgate.spring.settings.DurationSetting;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where pools and quotas are.
 *
 * @param backend in this process, or in Redis
 * @param redis settings of pools and quotas in Redis; where Redis is, {@link RedisServerSettings} say
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

    /** What a gateway grants of a pool while Redis does not answer. */
    public enum Outage {
        FAIL_CLOSED,
        RESERVE,
        OPTIMISTIC
    }

    /** What happens to requests with enforced quotas while Redis does not answer. */
    public enum QuotaOutage {
        FAIL_CLOSED,
        FAIL_OPEN
    }

    /**
     * Settings of pools and quotas in Redis.
     *
     * @param failover how long a server of Redis that was replaced by another may go on to accept writes
     * @param outage the policy of pools while Redis does not answer
     * @param quotaOutage the policy of quotas while Redis does not answer
     * @param gateways how many gateways share the pools: with {@code reserve} the most, with {@code optimistic} the fewest
     * @param reserve the part of a pool that all reserves together are
     */
    public record Redis(
            @DefaultValue("1s") DurationSetting failover,
            @DefaultValue("fail-closed") Outage outage,
            @DefaultValue("fail-closed") QuotaOutage quotaOutage,
            @Nullable Integer gateways,
            @Nullable Double reserve) {

        private static final String PREFIX = "fairgate.redis.";
        private static final double USUAL_RESERVE = 0.2;

        /** @throws IllegalArgumentException naming a setting that is out of range, missing or without meaning */
        public Redis {
            require(!failover.value().isNegative(), "failover", failover.value(), ">= 0");
            require(
                    gateways == null ? outage != Outage.RESERVE : gateways >= 1,
                    "gateways",
                    gateways == null ? "missing" : gateways,
                    "the number of gateways, 1 or more");
            require(reserve == null || (reserve > 0 && reserve <= 1), "reserve", reserve, "above 0, at most 1");
            require(
                    gateways == null || outage != Outage.FAIL_CLOSED,
                    "gateways",
                    gateways,
                    "none with %soutage=fail-closed".formatted(PREFIX));
            require(
                    reserve == null || outage == Outage.RESERVE,
                    "reserve",
                    reserve,
                    "none without %soutage=reserve".formatted(PREFIX));
        }

        private static void require(boolean isRight, String setting, @Nullable Object found, String expected) {
            if (!isRight) {
                throw new IllegalArgumentException(
                        "%s%s: %s (expected: %s)".formatted(PREFIX, setting, found, expected));
            }
        }

        OutagePolicy outages() {
            return switch (outage) {
                case FAIL_CLOSED -> OutagePolicy.FAIL_CLOSED;
                case RESERVE ->
                    OutagePolicy.reserve(gateways == null ? 1 : gateways, reserve == null ? USUAL_RESERVE : reserve);
                case OPTIMISTIC -> OutagePolicy.optimistic(gateways == null ? 0 : gateways);
            };
        }

        /** @param uncharged runs for each request that passes and is not charged */
        QuotaOutagePolicy quotaOutages(Runnable uncharged) {
            return quotaOutage == QuotaOutage.FAIL_OPEN
                    ? QuotaOutagePolicy.failOpen(uncharged)
                    : QuotaOutagePolicy.FAIL_CLOSED;
        }
    }
}
