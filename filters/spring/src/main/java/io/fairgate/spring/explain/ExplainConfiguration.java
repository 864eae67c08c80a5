package io.fairgate.spring.explain;

import io.fairgate.policy.Policy;
import io.fairgate.time.MonotonicScheduler;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.scheduler.Schedulers;

/** Explanations of decisions. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class ExplainConfiguration {

    @Bean
    UsageHistory fairgateUsageHistory() {
        return new UsageHistory();
    }

    @Bean
    UsageSampler fairgateUsageSampler(UsageHistory history, PoolUses pools) {
        return new UsageSampler(history, pools, MonotonicScheduler.INSTANCE, Schedulers.boundedElastic());
    }

    @Bean
    Explanations fairgateExplanations(UsageHistory history, UsageSampler sampler) {
        return new Explanations(history, sampler);
    }
}
