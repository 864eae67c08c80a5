package io.fairgate.spring.refusal;

import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.PolicyHolder;
import java.time.InstantSource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The answers to refusals, and the logs of them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import({DecisionLog.class, RefusalHandler.class})
public class RefusalConfiguration {

    @Bean
    RecordLog fairgateAuditLog(RefusalMeters meters) {
        return new RecordLog(RecordLog.AUDIT, meters.recordsLost(RecordLog.AUDIT));
    }

    @Bean
    Decisions fairgateDecisions(PolicyHolder policy, DecisionLog log, RecordLog audit, RouteMeters meters) {
        return new Decisions(policy, log, audit, meters, InstantSource.system());
    }
}
