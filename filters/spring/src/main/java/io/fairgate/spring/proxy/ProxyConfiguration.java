package io.fairgate.spring.proxy;

import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.PolicyHolder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.cloud.gateway.filter.headers.ForwardedHeadersFilter;
import org.springframework.cloud.gateway.filter.headers.XForwardedHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the upstream learns about clients and proxies. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class ProxyConfiguration {

    /** An application may have told Spring Cloud Gateway to set these headers. */
    @Bean
    ForwardedFields fairgateForwardedFields(
            PolicyHolder policy,
            ObjectProvider<ForwardedHeadersFilter> standard,
            ObjectProvider<XForwardedHeadersFilter> others) {
        return new ForwardedFields(
                policy, standard.stream().count() + others.stream().count() == 0);
    }
}
