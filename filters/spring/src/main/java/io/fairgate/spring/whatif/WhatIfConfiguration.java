package io.fairgate.spring.whatif;

import io.fairgate.policy.Policy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.spring.policy.PolicyHolder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The endpoint that replays the latest requests under another policy. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class WhatIfConfiguration {

    @Bean
    WhatIfEndpoint fairgateWhatIf(PermitPools pools, Recordings recordings, PolicyHolder policy) {
        return new WhatIfEndpoint(new Predictions(pools, recordings, policy));
    }
}
