package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PermitsWithoutClient;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters of requests, pools and tenants. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class MetricsConfiguration {

    @Bean
    FairgateMeters fairgateMeters(LivePolicy policy, MeterRegistry registry, FairgateProperties properties) {
        TenantSeries series =
                new TenantSeries(policy.current(), properties.metrics().tenants(), MonotonicScheduler.INSTANCE);
        FairgateMeters meters = new FairgateMeters(policy, registry, series);
        policy.add(meters);
        return meters;
    }

    @Bean
    FairgateGauges fairgateGauges(
            LivePolicy policy,
            PermitPools pools,
            PermitsWithoutClient withoutClient,
            Quotas quotas,
            ByteBudget waitingBodies,
            FairgateMeters meters) {
        FairgateGauges gauges = new FairgateGauges(
                policy, pools, withoutClient, quotas, waitingBodies, meters, MonotonicScheduler.INSTANCE);
        policy.add(gauges);
        return gauges;
    }
}
