package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PermitStep;
import io.fairgate.spring.identity.TenantIdentifier;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.quota.QuotaStep;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.spring.refusal.RefusalHandler;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import java.time.InstantSource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The admission of requests, and {@link TenantAccess} for APIs without routes. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
public class AdmissionConfiguration {

    @Bean
    GracefulShutdown fairgateGracefulShutdown(
            PermitPools pools, RefusalMeters refusals, FairgateProperties properties) {
        return new GracefulShutdown(pools, refusals, properties.drainTime().value(), MonotonicScheduler.INSTANCE);
    }

    @Bean
    ConnectFilter fairgateConnectFilter(RefusalMeters refusals) {
        return new ConnectFilter(refusals);
    }

    @Bean
    AmbiguousPaths fairgateAmbiguousPaths(
            LivePolicy policy, Decisions decisions, RefusalMeters refusals, FairgateProperties properties) {
        return new AmbiguousPaths(
                policy, decisions, refusals, properties.ambiguousPaths() == FairgateProperties.OnAmbiguousPath.PASS);
    }

    @Bean
    AccessLog fairgateAccessLog(FairgateProperties properties, RefusalMeters meters) {
        RecordLog records =
                properties.accessLog() ? new RecordLog(RecordLog.ACCESS, meters.recordsLost(RecordLog.ACCESS)) : null;
        return new AccessLog(records, InstantSource.system(), MonotonicScheduler.INSTANCE);
    }

    @Bean
    Admission fairgateAdmission(
            GracefulShutdown shutdown,
            AmbiguousPaths paths,
            TenantIdentifier tenants,
            QuotaStep quotas,
            PermitStep permits,
            AccessLog accessLog) {
        return new Admission(shutdown, paths, tenants, quotas, permits, accessLog);
    }

    @Bean
    TenantAccess fairgateTenantAccess(
            TenantIdentifier identifier,
            QuotaStep quotas,
            RefusalHandler refusals,
            FairgateMeters meters,
            RecordLog audit,
            GracefulShutdown shutdown) {
        return new TenantAccess(identifier, quotas, refusals, meters, audit, shutdown);
    }
}
