package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RouteQuotasTest {

    private static final TenantId ACME = TenantId.of("acme");

    private static Policy policyOf(TenantId... members) {
        Map<TenantId, TenantPolicy> policies = new LinkedHashMap<>();
        for (TenantId member : members) {
            policies.put(member, new TenantPolicy(member, "plan", ShareSettings.EQUAL, List.of()));
        }
        return new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.1")))),
                policies,
                null,
                Map.of());
    }

    @Test
    void a_tenant_removed_during_its_request_is_unknown_and_not_without_quotas() {
        RouteQuotas quotas = new RouteQuotas(policyOf(ACME));
        assertThat(quotas.of(ACME, "x")).isNotNull();
        Policy next = policyOf(TenantId.of("globex"));
        quotas.prepare(next);
        quotas.follow(next);
        assertThat(quotas.of(ACME, "x")).isNull();
    }
}
