package io.fairgate.spring.quota;

import io.fairgate.policy.Policy;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** Quotas, and the costs of requests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import({QuotaStep.class, CostGatewayFilterFactory.class})
public class QuotaConfiguration {

    private static final String QUOTAS = "fairgateQuotas";

    /** Whether a journal is configured. An empty name counts as none, so that a setting can be overridden. */
    static final class JournalNamed implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata where) {
            return StringUtils.hasLength(context.getEnvironment().getProperty("fairgate.quotas.journal"));
        }
    }

    @Bean
    @Conditional(JournalNamed.class)
    JournalStatus fairgateJournalHealthIndicator(FairgateProperties properties, FairgateMeters meters) {
        Path file = Objects.requireNonNull(properties.quotas().journal());
        return new JournalStatus(file, meters.journalFailures(), InstantSource.system());
    }

    /** @throws IllegalStateException when the application has its own quotas, which would not write the journal */
    @Bean
    @Conditional(JournalNamed.class)
    UsageJournal fairgateUsageJournal(JournalStatus status, BeanFactory beans) {
        if (!beans.containsBean(QUOTAS)) {
            throw new IllegalStateException(
                    "fairgate.quotas.journal: %s (expected: no journal, because the application has its own Quotas bean, which would not write it)"
                            .formatted(status.file()));
        }
        return UsageJournal.open(status.file(), MonotonicScheduler.INSTANCE, InstantSource.system(), status);
    }

    /** The quotas of this process. At the end they write the usage to the unit, before their journal is closed. */
    @Bean(name = QUOTAS, destroyMethod = "writeExactly")
    @ConditionalOnMissingBean(Quotas.class)
    EmbeddedQuotas quotas(@Nullable UsageJournal journal) {
        return new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system(), journal);
    }

    @Bean
    RemovedTenants fairgateRemovedTenants(Policy policy, Quotas quotas, DecisionLog decisions) {
        return new RemovedTenants(policy, quotas, decisions, MonotonicScheduler.INSTANCE, InstantSource.system());
    }

    @Bean
    HttpClientCustomizer fairgateUpstreamWork() {
        return UpstreamWork.NOTED;
    }
}
