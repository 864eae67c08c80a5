package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The policy that is in force, and the beans that change together with it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import(PolicyHolder.class)
public class PolicyConfiguration {

    @Bean
    SmartInitializingSingleton fairgatePolicyParticipants(
            PolicyHolder policy, ObjectProvider<PolicyParticipant> participants) {
        return () -> participants.forEach(policy::add);
    }
}
