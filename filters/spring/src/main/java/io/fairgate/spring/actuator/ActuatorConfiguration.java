package io.fairgate.spring.actuator;

import io.fairgate.policy.Policy;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Endpoints of the management port. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import({
    ClusterEndpoint.class,
    DecisionsEndpoint.class,
    PoolsEndpoint.class,
    QuotasEndpoint.class,
    UpstreamsEndpoint.class
})
public class ActuatorConfiguration {}
