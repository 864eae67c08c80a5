package io.fairgate.spring;

import io.fairgate.policy.Policy;
import io.fairgate.quota.EmbeddedQuotas;
import io.fairgate.quota.Quotas;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;
import reactor.core.scheduler.Scheduler;

/**
 * Adds Fairgate to a Spring Cloud Gateway that has a {@link Policy}: a bean of that type, or the properties under
 * {@code fairgate.policy} together with {@code fairgate.policy.enabled=true}. Without one it adds nothing.
 *
 * <p>Over 250 lines, because it is the list of all beans, and nothing else.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(GlobalFilter.class)
@EnableConfigurationProperties(FairgateProperties.class)
public class FairgateAutoConfiguration {

    /** The policy from Spring's own properties. Ordered, because the condition below sees only what is there already. */
    @Configuration(proxyBeanMethods = false)
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @ConditionalOnProperty("fairgate.policy.enabled")
    @ConditionalOnMissingBean(Policy.class)
    @EnableConfigurationProperties(PolicyProperties.class)
    static class PolicyFromProperties {
        @Bean
        Policy fairgatePolicy(PolicyProperties properties) {
            return properties.toPolicy();
        }
    }

    /** What verifies tokens, where there is a library that can. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Policy.class)
    @ConditionalOnClass(name = "com.nimbusds.jwt.proc.DefaultJWTProcessor")
    static class Tokens {
        @Bean
        TokenReaders fairgateTokens(FairgateMeters meters) {
            return new TokenReaders(meters, MonotonicScheduler.INSTANCE, InstantSource.system());
        }
    }

    /** Where usage is to be kept: an empty name is none, so that a setting can be taken back. */
    static final class JournalNamed implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata where) {
            return StringUtils.hasLength(context.getEnvironment().getProperty("fairgate.quotas.journal"));
        }
    }

    /** What there is to see of the usage journal. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Policy.class)
    @Conditional(JournalNamed.class)
    static class Journal {

        /** @throws IllegalStateException when nobody would write it */
        @Bean
        JournalLog fairgateJournalLog(FairgateProperties properties, FairgateMeters meters, ListableBeanFactory beans) {
            Path file = Objects.requireNonNull(properties.quotas().journal());
            if (beans.getBeanNamesForType(JournaledQuotas.class, true, false).length == 0) {
                throw new IllegalStateException(
                        "fairgate.quotas.journal: %s (expected: none, because the application has Quotas of its own, which it would not keep)"
                                .formatted(file));
            }
            return new JournalLog(file, meters, InstantSource.system());
        }

        @Bean
        HealthIndicator fairgateJournalHealthIndicator(JournalLog log) {
            return new JournalHealth(log);
        }
    }

    /** Everything else, once there is a policy. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Policy.class)
    static class Filters {

        @Bean
        LivePolicy fairgateLivePolicy(Policy first) {
            return new LivePolicy(first);
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
        FairgateMeters fairgateMeters(LivePolicy policy, MeterRegistry registry, FairgateProperties properties) {
            TenantSeries series =
                    new TenantSeries(policy.current(), properties.metrics().tenants(), time());
            FairgateMeters meters = new FairgateMeters(policy, registry, series);
            policy.add(meters);
            return meters;
        }

        @Bean
        PermitPools fairgatePools(LivePolicy policy, FairgateMeters meters) {
            PermitPools pools = new PermitPools(policy.current(), time(), meters);
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
        FairgateGauges fairgateGauges(
                LivePolicy policy,
                PermitPools pools,
                PermitsWithoutClient withoutClient,
                Quotas quotas,
                ByteBudget waitingBodies,
                FairgateMeters meters) {
            FairgateGauges gauges =
                    new FairgateGauges(policy, pools, withoutClient, quotas, waitingBodies, meters, time());
            policy.add(gauges);
            return gauges;
        }

        @Bean
        Drain fairgateDrain(PermitPools pools, FairgateMeters meters, FairgateProperties properties) {
            return new Drain(pools, meters, properties.drainTime().value(), time());
        }

        @Bean
        ConnectFilter fairgateConnectFilter(FairgateMeters meters) {
            return new ConnectFilter(meters);
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
        AmbiguousPaths fairgateAmbiguousPaths(
                LivePolicy policy, Decisions decisions, FairgateMeters meters, FairgateProperties properties) {
            return new AmbiguousPaths(
                    policy, decisions, meters, properties.ambiguousPaths() == FairgateProperties.OnAmbiguousPath.PASS);
        }

        @Bean
        TenantIdentifier fairgateTenantIdentifier(LivePolicy policy, ObjectProvider<Evidence.Tokens> tokens) {
            TenantIdentifier identifier =
                    new TenantIdentifier(policy.current(), tokens.getIfAvailable(() -> Evidence.Tokens.NONE));
            policy.addGate(identifier);
            return identifier;
        }

        @Bean
        Strangers fairgateStrangers(Decisions decisions, FairgateMeters meters) {
            return new Strangers(decisions, meters);
        }

        @Bean
        TenantFilter fairgateTenantFilter(
                TenantIdentifier identifier, LivePolicy policy, Strangers strangers, FairgateMeters meters) {
            return new TenantFilter(identifier, policy, strangers, meters);
        }

        @Bean
        TenantRoutePredicateFactory fairgateTenantRoutePredicateFactory(
                TenantIdentifier identifier, LivePolicy policy, Strangers strangers) {
            return new TenantRoutePredicateFactory(identifier, policy, strangers);
        }

        @Bean
        UpstreamIdentity fairgateUpstreamIdentity() {
            return new UpstreamIdentity(HttpHeadersFilter.Type.REQUEST);
        }

        @Bean
        UpstreamIdentity fairgateUpstreamAnswers() {
            return new UpstreamIdentity(HttpHeadersFilter.Type.RESPONSE);
        }

        @Bean
        RecordLog fairgateAuditLog(FairgateMeters meters) {
            return new RecordLog(RecordLog.AUDIT, meters);
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
                    policy.current(),
                    quotas instanceof EmbeddedQuotas embedded ? embedded : null,
                    decisions,
                    time(),
                    InstantSource.system());
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
        QuotaCheck fairgateQuotaCheck(Quotas quotas, RouteQuotas routes, Decisions decisions, FairgateMeters meters) {
            return new QuotaCheck(quotas, routes, decisions, meters);
        }

        @Bean
        QuotaChargeFilter fairgateQuotaChargeFilter(
                Quotas quotas, QuotaCheck check, LivePolicy policy, Decisions decisions, FairgateMeters meters) {
            return new QuotaChargeFilter(quotas, check, policy, decisions, meters);
        }

        @Bean
        FairShareGatewayFilterFactory fairShareGatewayFilterFactory(
                LivePolicy policy,
                PermitPools pools,
                QuotaCheck quotas,
                FairgateMeters meters,
                ByteBudget waitingBodies,
                Decisions decisions,
                PermitsWithoutClient withoutClient) {
            return new FairShareGatewayFilterFactory(
                    policy, pools, quotas, meters, waitingBodies, decisions, withoutClient, time());
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

        @Bean
        DecisionLog fairgateDecisionLog() {
            return new DecisionLog();
        }

        @Bean
        Decisions fairgateDecisions(LivePolicy policy, DecisionLog log, RecordLog audit) {
            return new Decisions(
                    new Refusals(policy, RetryAfter.RANDOM), log, new IdentityAudit(audit), InstantSource.system());
        }

        @Bean
        RefusalHandler fairgateRefusalHandler(Decisions decisions, FairgateMeters meters) {
            return new RefusalHandler(decisions, meters);
        }

        @Bean
        TenantQuotas fairgateTenantQuotas(
                Quotas quotas, RouteQuotas sets, LivePolicy policy, Decisions decisions, FairgateMeters meters) {
            return new TenantQuotas(quotas, sets, policy, decisions, meters);
        }

        @Bean
        TenantAccess fairgateTenantAccess(
                TenantIdentifier identifier,
                TenantQuotas quotas,
                RefusalHandler refusals,
                FairgateMeters meters,
                RecordLog audit,
                Drain drain) {
            return new TenantAccess(identifier, quotas, refusals, meters, audit, drain);
        }

        @Bean
        @ConditionalOnBooleanProperty("fairgate.access-log")
        AccessLog fairgateAccessLog(FairgateMeters meters) {
            return new AccessLog(new RecordLog(RecordLog.ACCESS, meters), InstantSource.system(), time());
        }

        @Bean
        DecisionsEndpoint fairgateDecisionsEndpoint(DecisionLog decisions) {
            return new DecisionsEndpoint(decisions);
        }

        @Bean
        PoolsEndpoint fairgatePoolsEndpoint(PermitPools pools) {
            return new PoolsEndpoint(pools);
        }

        private static Scheduler time() {
            return MonotonicScheduler.INSTANCE;
        }
    }
}
