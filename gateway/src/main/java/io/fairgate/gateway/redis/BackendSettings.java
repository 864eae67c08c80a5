package io.fairgate.gateway.redis;

import io.fairgate.redis.quota.QuotaOutagePolicy;
import io.fairgate.redis.slice.OutagePolicy;
import io.fairgate.spring.settings.DurationSetting;
import java.util.Objects;
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

    /** @throws IllegalArgumentException naming a policy for outages of Redis that has no meaning without Redis */
    public BackendSettings {
        if (backend == Backend.EMBEDDED) {
            requireNone("outage", redis.outage() != PoolOutage.FAIL_CLOSED);
            requireNone("quota-outage", redis.quotaOutage() != QuotaOutage.FAIL_CLOSED);
        }
    }

    private static void requireNone(String setting, boolean isSet) {
        if (isSet) {
            throw new IllegalArgumentException("%s%s: set with %s=embedded (expected: no value, or %s=redis)"
                    .formatted(Redis.PREFIX, setting, PROPERTY, PROPERTY));
        }
    }

    /** What a gateway grants of a pool while Redis does not answer. */
    public enum PoolOutage {
        /** Nothing. */
        FAIL_CLOSED,
        /** Permits that it keeps for itself all the time. */
        RESERVE,
        /** Its part of the pool, by the number of gateways. */
        OPTIMISTIC
    }

    /** What happens to requests with enforced quotas while Redis does not answer. */
    public enum QuotaOutage {
        /** They are refused. */
        FAIL_CLOSED,
        /** They are served and not charged. */
        FAIL_OPEN
    }

    /**
     * Settings of pools and quotas in Redis.
     *
     * @param failover how long a server of Redis that was replaced by another may go on to accept writes
     * @param outage the policy of pools while Redis does not answer
     * @param quotaOutage the policy of quotas while Redis does not answer
     * @param gateways the most gateways that run at the same time; a pool is divided by at least this number
     * @param reserve the fraction of a pool for the reserves of all gateways together
     */
    public record Redis(
            @DefaultValue("1s") DurationSetting failover,
            @DefaultValue("fail-closed") PoolOutage outage,
            @DefaultValue("fail-closed") QuotaOutage quotaOutage,
            @Nullable Integer gateways,
            @Nullable Double reserve) {

        private static final String PREFIX = "fairgate.redis.";
        private static final String OUTAGE = PREFIX + "outage=";
        private static final double USUAL_RESERVE = 0.2;

        /** @throws IllegalArgumentException naming a setting that is out of range, missing or without meaning */
        public Redis {
            require(!failover.value().isNegative(), "failover", failover.value(), ">= 0");
            require(
                    gateways != null || outage != PoolOutage.RESERVE,
                    "gateways",
                    "missing",
                    "with %sreserve the most gateways that run at once, 1 or more".formatted(OUTAGE));
            require(gateways == null || gateways >= 1, "gateways", gateways, "1 or more");
            require(
                    gateways == null || outage != PoolOutage.FAIL_CLOSED,
                    "gateways",
                    gateways,
                    "no value with %sfail-closed; it belongs to reserve and optimistic".formatted(OUTAGE));
            require(
                    reserve == null || (reserve > 0 && reserve <= 1),
                    "reserve",
                    reserve,
                    "a fraction of the pool above 0 and at most 1, such as 0.2");
            require(
                    reserve == null || outage == PoolOutage.RESERVE,
                    "reserve",
                    reserve,
                    "no value without %sreserve".formatted(OUTAGE));
        }

        private static void require(boolean isRight, String setting, @Nullable Object found, String expected) {
            if (!isRight) {
                throw new IllegalArgumentException(
                        "%s%s: %s (expected: %s)".formatted(PREFIX, setting, found, expected));
            }
        }

        OutagePolicy outagePolicy() {
            return switch (outage) {
                case FAIL_CLOSED -> OutagePolicy.FAIL_CLOSED;
                case RESERVE ->
                    OutagePolicy.reserve(Objects.requireNonNull(gateways), reserve == null ? USUAL_RESERVE : reserve);
                case OPTIMISTIC -> OutagePolicy.optimistic(gateways == null ? 0 : gateways);
            };
        }

        /** @param uncharged runs for each request that passes and is not charged */
        QuotaOutagePolicy quotaOutagePolicy(Runnable uncharged) {
            return quotaOutage == QuotaOutage.FAIL_OPEN
                    ? QuotaOutagePolicy.failOpen(uncharged)
                    : QuotaOutagePolicy.FAIL_CLOSED;
        }
    }
}
