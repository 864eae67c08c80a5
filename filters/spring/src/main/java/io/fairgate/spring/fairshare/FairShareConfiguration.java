package io.fairgate.spring.fairshare;

import io.fairgate.permit.PoolFactory;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.spring.exchange.RequestTraces;
import io.fairgate.spring.pace.Pace;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RefusalHandler;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The pools, and the parts of the admission that hold their permits. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import({CachedBodyFilter.class, FairShareGatewayFilterFactory.class})
public class FairShareConfiguration {

    /** The backend of the pools: another bean of this type puts them elsewhere. */
    @Bean
    @ConditionalOnMissingBean
    PoolFactory fairgatePoolFactory() {
        return (name, settings, shares, listener) ->
                new EmbeddedPermitPool(name, settings, shares, MonotonicScheduler.INSTANCE, listener);
    }

    @Bean
    PermitPools fairgatePools(
            Policy policy,
            PoolFactory factory,
            PermitPools.Watch watch,
            Recordings recordings,
            ObjectProvider<RequestTraces> traces,
            PoolsPerInstance instances) {
        PermitPools.Watch traced = new TracedWatch(watch, traces.getIfAvailable(() -> RequestTraces.NONE));
        return new PermitPools(
                policy, factory, MonotonicScheduler.INSTANCE, new RecordedWatch(traced, recordings), instances);
    }

    @Bean
    Recordings fairgateRecordings(FairgateProperties properties) {
        return new Recordings(properties.whatIf().requests(), MonotonicScheduler.INSTANCE);
    }

    @Bean
    ByteBudget fairgateWaitingBodies(FairgateProperties properties) {
        return new ByteBudget(properties.waitingBodies().toBytes());
    }

    @Bean
    PermitStep fairgatePermitStep(
            PolicyHolder policy,
            PermitPools pools,
            ByteBudget waitingBodies,
            Decisions decisions,
            RefusalHandler failures,
            FairgateProperties properties) {
        FairgateProperties.Clients clients = properties.clients();
        Pace pace = new Pace(
                clients.bodyPause().value().toNanos(), clients.minRate().toBytes());
        return new PermitStep(
                policy,
                pools,
                waitingBodies,
                pace,
                decisions,
                failures,
                new ExplainedWaits(properties.explainWaits().value()),
                MonotonicScheduler.INSTANCE);
    }

    @Bean
    HttpClientCustomizer fairgateUpstreamConnections() {
        return UpstreamConnection.NOTED;
    }
}
