package io.fairgate.gateway.throttle.policy;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.RouteTable.Route;
import io.fairgate.gateway.lease.LeaseRegister;
import io.fairgate.gateway.lease.LeaseSettings;
import io.fairgate.gateway.throttle.ThrottleProtocol;
import io.fairgate.gateway.throttle.ThrottleSettings;
import io.fairgate.lease.Leases;
import io.fairgate.policy.Policy;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Throttle's protocol beside the lease API, over the same leases. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(LeaseSettings.THROTTLE + ".enabled")
public class ThrottleConfiguration {

    /** Peers count even if they hold nothing. So one tenant may have at most a tenth (1/this) of all. */
    private static final int OWNERS_AT_LEAST = 10;

    @Bean
    Supplier<List<Route>> throttleRoutes(
            TenantAccess access,
            LeaseRegister register,
            Leases leases,
            PermitPools pools,
            PolicyHolder policy,
            LeaseSettings settings) {
        LeaseSettings.Throttle throttle = settings.throttle();
        requireLevelsOfPools(throttle.levels().keySet(), policy.current());
        ThrottleTenants tenants = new ThrottleTenants(
                access, register, policy, defaultTenant(throttle.defaultTenant(), policy.current()));
        ThrottleSettings bounds =
                ThrottleSettings.STANDARD.with(settings.maxOpen(), Math.max(1, settings.maxOpen() / OWNERS_AT_LEAST));
        ThrottleProtocol protocol = new ThrottleProtocol(
                leases,
                new PolicySemaphores(pools, policy, throttle.numbers()),
                tenants,
                bounds,
                MonotonicScheduler.INSTANCE);
        return protocol::routes;
    }

    @Bean
    HttpCall.Handler throttleNotFound() {
        return ThrottleProtocol::notFound;
    }

    private static @Nullable TenantId defaultTenant(@Nullable String name, Policy policy) {
        if (name == null) {
            return null;
        }
        if (!TenantId.isWellFormed(name) || policy.tenant(TenantId.of(name)) == null) {
            List<String> members = policy.members().keySet().stream()
                    .map(TenantId::value)
                    .sorted()
                    .toList();
            throw new InvalidConfigurationPropertyValueException(
                    LeaseSettings.THROTTLE + ".default-tenant",
                    name,
                    "expected: a tenant of the policy, " + Suggestions.oneOf(name, members));
        }
        return TenantId.of(name);
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
