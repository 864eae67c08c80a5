package io.fairgate.spring.identity;

import io.fairgate.policy.Policy;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.time.MonotonicScheduler;
import java.time.InstantSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Identification of tenants. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class IdentityConfiguration {

    /** The verification of tokens, when its library is on the class path. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(Policy.class)
    @ConditionalOnClass(name = "com.nimbusds.jwt.proc.DefaultJWTProcessor")
    static class Tokens {
        @Bean
        TokenReaders fairgateTokens(FairgateMeters meters) {
            return new TokenReaders(meters::keySetFetched, MonotonicScheduler.INSTANCE, InstantSource.system());
        }
    }

    @Bean
    TenantIdentifier fairgateTenantIdentifier(PolicyHolder policy, ObjectProvider<Evidence.Tokens> tokens) {
        return new TenantIdentifier(policy.current(), tokens.getIfAvailable(() -> Evidence.Tokens.NONE));
    }

    @Bean
    TenantCheck fairgateTenantCheck(
            TenantIdentifier identifier, PolicyHolder policy, Decisions decisions, RefusalMeters refusals) {
        return new TenantCheck(identifier, policy, decisions, refusals);
    }

    @Bean
    TenantRoutePredicateFactory fairgateTenantRoutePredicateFactory(
            TenantIdentifier identifier, PolicyHolder policy, TenantCheck tenants) {
        return new TenantRoutePredicateFactory(identifier, policy, tenants);
    }

    @Bean
    UpstreamIdentity fairgateUpstreamIdentity() {
        return new UpstreamIdentity(HttpHeadersFilter.Type.REQUEST);
    }

    @Bean
    UpstreamIdentity fairgateUpstreamAnswers() {
        return new UpstreamIdentity(HttpHeadersFilter.Type.RESPONSE);
    }
}
