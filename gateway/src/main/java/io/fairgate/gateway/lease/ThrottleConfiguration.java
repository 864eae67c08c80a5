package io.fairgate.gateway.lease;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.gateway.http.Call;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.throttle.PeerLeases;
import io.fairgate.gateway.throttle.ThrottleProtocol;
import io.fairgate.gateway.throttle.ThrottleSettings;
import io.fairgate.lease.Leases;
import io.fairgate.policy.Policy;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Throttle's protocol beside the lease API, over the same leases. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(LeaseSettings.THROTTLE + ".enabled")
class ThrottleConfiguration {

    /** Peers count even if they hold nothing. So one tenant may have at most a tenth (1/this) of all. */
    private static final int OWNERS_AT_LEAST = 10;

    @Bean
    Consumer<RouteTable.Builder> throttleRoutes(
            TenantAccess access,
            LeaseDesk desk,
            Leases leases,
            LeaseRecords records,
            LeasePools pools,
            PolicyHolder policy,
            LeaseSettings settings) {
        LeaseSettings.Throttle throttle = settings.throttle();
        requireLevelsOfPools(throttle.levels().keySet(), policy.current());
        ThrottleTenants tenants = new ThrottleTenants(
                access, desk, records, policy, defaultTenant(throttle.defaultTenant(), policy.current()));
        ThrottleSettings bounds =
                ThrottleSettings.STANDARD.with(settings.maxOpen(), Math.max(1, settings.maxOpen() / OWNERS_AT_LEAST));
        ThrottleProtocol protocol = new ThrottleProtocol(
                new PeerLeases(leases),
                new PolicySemaphores(pools, policy, throttle.numbers()),
                tenants,
                bounds,
                MonotonicScheduler.INSTANCE);
        return protocol::addTo;
    }

    /** Answers unknown paths in the form that the client of each API expects. */
    @Bean
    Call.Handler throttleOtherwise() {
        return call -> LeaseRoutes.isOwn(call.exchange().getRequest().getURI().getRawPath())
                ? Mono.error(LeaseProblem.notFound())
                : ThrottleProtocol.notFound(call);
    }

    private static @Nullable TenantId defaultTenant(@Nullable String name, Policy policy) {
        if (name == null) {
            return null;
        }
        boolean isOne = TenantId.isWellFormed(name) && policy.tenant(TenantId.of(name)) != null;
        if (!isOne) {
            throw new InvalidConfigurationPropertyValueException(
                    LeaseSettings.THROTTLE + ".default-tenant",
                    name,
                    "expected: a tenant of the policy, " + Suggestions.oneOf(name, names(policy)));
        }
        return TenantId.of(name);
    }

    private static List<String> names(Policy policy) {
        return policy.members().keySet().stream().map(TenantId::value).sorted().toList();
    }

    private static void requireLevelsOfPools(Set<String> levels, Policy policy) {
        for (String pool : levels) {
            if (!policy.pools().containsKey(pool)) {
                throw new InvalidConfigurationPropertyValueException(
                        LeaseSettings.THROTTLE + ".levels",
                        pool,
                        "expected: pools of the policy, "
                                + Suggestions.oneOf(pool, policy.pools().keySet()));
            }
        }
    }
}
