package io.fairgate.spring.actuator;

import io.fairgate.policy.Policy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.refusal.DecisionLog;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Endpoints of the management port. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class ActuatorConfiguration {

    @Bean
    DecisionsEndpoint fairgateDecisionsEndpoint(DecisionLog decisions) {
        return new DecisionsEndpoint(decisions);
    }

    @Bean
    PoolsEndpoint fairgatePoolsEndpoint(PermitPools pools) {
        return new PoolsEndpoint(pools);
    }
}
