package io.fairgate.spring.fairshare;

import io.fairgate.permit.PoolFactory;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The pools, and the parts of the admission that hold their permits. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class FairShareConfiguration {

    /** The backend of the pools: another bean of this type puts them elsewhere. */
    @Bean
    @ConditionalOnMissingBean
    PoolFactory fairgatePoolFactory() {
        return (name, settings, shares, listener) ->
                new EmbeddedPermitPool(name, settings, shares, MonotonicScheduler.INSTANCE, listener);
    }

    @Bean
    PermitPools fairgatePools(LivePolicy policy, PoolFactory factory, PermitPools.Watch watch) {
        PermitPools pools = new PermitPools(policy.current(), factory, MonotonicScheduler.INSTANCE, watch);
        policy.add(pools);
        return pools;
    }

    @Bean
    ByteBudget fairgateWaitingBodies(FairgateProperties properties) {
        return new ByteBudget(properties.waitingBodies().toBytes());
    }

    @Bean
    PermitsWithoutClient fairgatePermitsWithoutClient() {
        return new PermitsWithoutClient();
    }

    @Bean
    CachedBodyFilter fairgateCachedBodyFilter() {
        return new CachedBodyFilter();
    }

    @Bean
    ResponseConnectionFilter fairgateResponseConnectionFilter() {
        return new ResponseConnectionFilter();
    }

    @Bean
    PermitStep fairgatePermitStep(
            LivePolicy policy,
            PermitPools pools,
            ByteBudget waitingBodies,
            Decisions decisions,
            PermitsWithoutClient withoutClient) {
        return new PermitStep(policy, pools, waitingBodies, decisions, withoutClient, MonotonicScheduler.INSTANCE);
    }

    @Bean
    FairShareGatewayFilterFactory fairShareGatewayFilterFactory(PermitPools pools) {
        return new FairShareGatewayFilterFactory(pools);
    }

    @Bean
    static HeldWebSockets fairgateHeldWebSockets() {
        return new HeldWebSockets();
    }

    @Bean
    HttpClientCustomizer fairgateUpstreamConnections() {
        return UpstreamConnection.NOTED;
    }

    @Bean
    HttpClientCustomizer fairgateUnaskedUpgrades() {
        return UnaskedUpgrades.REFUSED;
    }

    @Bean
    UpstreamBodyIdleFilter fairgateUpstreamBodyIdleFilter(FairgateProperties properties) {
        return new UpstreamBodyIdleFilter(properties.upstreamBodyIdle().value());
    }
}
