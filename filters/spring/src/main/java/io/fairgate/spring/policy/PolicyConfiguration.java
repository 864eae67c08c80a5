package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The policy that is in force. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class PolicyConfiguration {

    @Bean
    LivePolicy fairgateLivePolicy(Policy first) {
        return new LivePolicy(first);
    }
}
