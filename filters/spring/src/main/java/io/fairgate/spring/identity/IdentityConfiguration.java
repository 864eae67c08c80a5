package io.fairgate.spring.identity;

import io.fairgate.policy.Policy;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.ForwardedFields;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.time.MonotonicScheduler;
import java.security.Principal;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;

/** Identification of tenants. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import(TenantRoutePredicateFactory.class)
public class IdentityConfiguration {

    /** An optional library, which verifies tokens. */
    private static final String NIMBUS = "com.nimbusds.jwt.proc.DefaultJWTProcessor";

    @Bean
    TenantIdentifier fairgateTenantIdentifier(
            PolicyHolder policy, FairgateMeters meters, Decisions decisions, TenantResolvers resolvers) {
        Authenticator.Tokens tokens = ClassUtils.isPresent(NIMBUS, null)
                ? new TokenAuthenticators(meters::keySetFetched, MonotonicScheduler.INSTANCE)
                : Authenticator.Tokens.NONE;
        Authenticator.Beans beans =
                source -> new ResolverAuthenticator(source.name(), resolvers.get(source), MonotonicScheduler.INSTANCE);
        return new TenantIdentifier(policy, tokens, beans, decisions, meters);
    }

    /** Of Spring Security, an optional library. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.security.core.Authentication")
    static class PrincipalConfiguration {
        @Bean
        @ConditionalOnMissingBean(name = "principal")
        TenantResolver principal() {
            return new PrincipalTenantResolver(Principal::getName);
        }
    }

    @Bean
    UpstreamIdentity fairgateUpstreamIdentity(ForwardedFields forwarded) {
        return new UpstreamIdentity(HttpHeadersFilter.Type.REQUEST, forwarded);
    }

    @Bean
    UpstreamIdentity fairgateUpstreamAnswers(ForwardedFields forwarded) {
        return new UpstreamIdentity(HttpHeadersFilter.Type.RESPONSE, forwarded);
    }
}
