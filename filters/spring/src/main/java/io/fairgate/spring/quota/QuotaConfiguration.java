package io.fairgate.spring.quota;

import io.fairgate.policy.Policy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** Quotas, and the costs of requests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class QuotaConfiguration {

    /** Whether a journal is configured. An empty name counts as none, so that a setting can be overridden. */
    static final class JournalNamed implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata where) {
            return StringUtils.hasLength(context.getEnvironment().getProperty("fairgate.quotas.journal"));
        }
    }

    /** The log and the health of the usage journal. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Policy.class)
    @Conditional(JournalNamed.class)
    static class Journal {

        /** @throws IllegalStateException when the application has its own quotas, which would not write the journal */
        @Bean
        JournalLog fairgateJournalLog(FairgateProperties properties, FairgateMeters meters, ListableBeanFactory beans) {
            Path file = Objects.requireNonNull(properties.quotas().journal());
            if (beans.getBeanNamesForType(JournaledQuotas.class, true, false).length == 0) {
                throw new IllegalStateException(
                        "fairgate.quotas.journal: %s (expected: none, because the application has Quotas of its own, which it would not keep)"
                                .formatted(file));
            }
            return new JournalLog(file, meters.journalFailures(), InstantSource.system());
        }

        @Bean
        HealthIndicator fairgateJournalHealthIndicator(JournalLog log) {
            return new JournalHealth(log);
        }
    }

    @Bean
    @ConditionalOnMissingBean(Quotas.class)
    JournaledQuotas fairgateJournaledQuotas(ObjectProvider<JournalLog> log) {
        return JournaledQuotas.open(log.getIfAvailable());
    }

    @Bean
    @ConditionalOnMissingBean
    Quotas fairgateQuotas(JournaledQuotas journaled) {
        return journaled.quotas();
    }

    @Bean
    RouteQuotas fairgateRouteQuotas(LivePolicy policy) {
        RouteQuotas quotas = new RouteQuotas(policy.current());
        policy.add(quotas);
        return quotas;
    }

    @Bean
    RemovedTenants fairgateRemovedTenants(LivePolicy policy, Quotas quotas, DecisionLog decisions) {
        RemovedTenants removed = new RemovedTenants(
                policy.current(), quotas, decisions, MonotonicScheduler.INSTANCE, InstantSource.system());
        policy.add(removed);
        return removed;
    }

    @Bean
    CostGatewayFilterFactory costGatewayFilterFactory() {
        return new CostGatewayFilterFactory();
    }

    @Bean
    HttpClientCustomizer fairgateUpstreamWork() {
        return UpstreamWork.NOTED;
    }

    @Bean
    QuotaStep fairgateQuotaStep(
            Quotas quotas, RouteQuotas routes, LivePolicy policy, Decisions decisions, RefusalMeters refusals) {
        return new QuotaStep(quotas, routes, policy, decisions, refusals);
    }
}
