package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.spring.exchange.RouteRules.RuleFilter;
import io.fairgate.spring.settings.DurationSetting;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;

/**
 * {@code FairShare=POOL}: requests of this route wait for their tenant's fair share of the pool, and hold a permit
 * until the last byte of the response is written, or until anything else ends them.
 *
 * <p>Arguments: {@code pool}, and optionally {@code permits} (how many a request of this route takes, 1 by default) and
 * {@code max-hold} (how long it may hold them, such as {@code 30s}, the pool's {@code max-hold} by default; a number
 * without a unit is refused); in the long form also {@code class} (the class of its requests within their tenants, by
 * default none) and {@code on-client-left} ({@code finish} or {@code close}, by default the pool's setting). For the Java
 * DSL: {@code f.filter(fairShare.apply(c -> c.setPool("orders")))}.
 *
 * <p>One on a route. Of several the last one counts, so a route's own filter takes precedence over a default filter.
 */
public final class FairShareGatewayFilterFactory
        extends AbstractGatewayFilterFactory<FairShareGatewayFilterFactory.Config> {

    private final PermitPools pools;

    FairShareGatewayFilterFactory(PermitPools pools) {
        super(Config.class);
        this.pools = pools;
    }

    @Override
    public String name() {
        return "FairShare";
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("pool", "permits", "max-hold");
    }

    /** @throws IllegalArgumentException when there is no such pool, or it can never grant that many permits */
    @Override
    public GatewayFilter apply(Config config) {
        String pool = config.pool;
        Policy policy = pools.policyForRoutes();
        PoolSettings settings = pool == null ? null : policy.pools().get(pool);
        if (pool == null || settings == null) {
            throw new IllegalArgumentException("FairShare: pool: %s (expected: one of %s)"
                    .formatted(pool, policy.pools().keySet()));
        }
        if (config.permits < 1 || config.permits > settings.permits()) {
            throw new IllegalArgumentException("FairShare: permits: %d (expected: 1 to %d, the size of pool %s)"
                    .formatted(config.permits, settings.permits(), config.pool));
        }
        if (config.maxHold != null && (config.maxHold.isZero() || config.maxHold.isNegative())) {
            throw new IllegalArgumentException(
                    "FairShare: max-hold: %s (expected: more than 0)".formatted(config.maxHold));
        }
        if (config.requestClass != null && !policy.classes().containsKey(config.requestClass)) {
            throw new IllegalArgumentException("FairShare: class: %s (expected: one of %s)"
                    .formatted(config.requestClass, policy.classes().keySet()));
        }
        return new RuleFilter(
                new FairShareRule(pool, config.permits, config.maxHold, config.onClientLeft, config.requestClass));
    }

    /** The arguments of the filter: a bean with setters, because Spring Cloud Gateway binds arguments to one. */
    public static final class Config {
        private @Nullable String pool;
        private int permits = 1;
        private @Nullable Duration maxHold;
        private @Nullable OnClientLeft onClientLeft;
        private @Nullable String requestClass;

        public Config setPool(String pool) {
            this.pool = pool;
            return this;
        }

        public Config setPermits(int permits) {
            this.permits = permits;
            return this;
        }

        /** The type that properties are bound to: of several setters, Boot takes the one that matches the getter. */
        public @Nullable DurationSetting getMaxHold() {
            return maxHold == null ? null : new DurationSetting(maxHold);
        }

        public Config setMaxHold(DurationSetting maxHold) {
            return setMaxHold(maxHold.value());
        }

        /** For the Java DSL. */
        public Config setMaxHold(Duration maxHold) {
            this.maxHold = maxHold;
            return this;
        }

        public @Nullable OnClientLeft getOnClientLeft() {
            return onClientLeft;
        }

        /** The pool's setting applies if this is never called. */
        public Config setOnClientLeft(OnClientLeft onClientLeft) {
            this.onClientLeft = onClientLeft;
            return this;
        }

        /** The class of the requests. It has no getter, because {@code getClass} is taken. */
        public Config setClass(String requestClass) {
            this.requestClass = requestClass;
            return this;
        }
    }
}
