package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.explain.PoolUses;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.spring.upstream.InstanceMeters;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.netty.util.concurrent.Ticker;
import java.time.InstantSource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters of requests, pools and tenants. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class MetricsConfiguration {

    @Bean
    FairgateMeters fairgateMeters(PolicyHolder policy, MeterRegistry registry, FairgateProperties properties) {
        return new FairgateMeters(policy, registry, properties.metrics().tenants(), MonotonicScheduler.INSTANCE);
    }

    @Bean
    PoolUses fairgatePoolUses(PermitPools pools, FairgateMeters meters) {
        return new PoolUsage(pools, meters, MonotonicScheduler.INSTANCE);
    }

    @Bean
    ReloadMeters fairgateReloadMeters(MeterRegistry registry) {
        return new ReloadMeters(registry, InstantSource.system());
    }

    @Bean
    RouteMeters fairgateRouteMeters(FairgateMeters meters) {
        return new RouteCounters(meters);
    }

    @Bean
    FairgateGauges fairgateGauges(
            Policy policy, PermitPools pools, Quotas quotas, ByteBudget waitingBodies, FairgateMeters meters) {
        return new FairgateGauges(policy, pools, quotas, waitingBodies, meters, MonotonicScheduler.INSTANCE);
    }

    @Bean
    InstanceMeters fairgateInstanceMeters(MeterRegistry registry) {
        return new UpstreamMeters(registry);
    }

    @Bean
    EventLoopLag fairgateEventLoopLag() {
        return new EventLoopLag(Ticker.systemTicker());
    }

    @Bean
    MeterBinder fairgateEventLoopLagMeter(EventLoopLag lag) {
        return registry -> Meter.EVENT_LOOP_LAG.register(registry, Tags.empty(), lag::highestSeconds);
    }

    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> fairgateEventLoopLagOfClients(EventLoopLag lag) {
        return factory -> factory.addServerCustomizers(
                server -> server.doOnChannelInit((observer, channel, remote) -> lag.watch(channel.eventLoop())));
    }
}
