package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.Quotas;
import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Objects;

/** The balances of a tenant's quotas, as the gateway itself counts them. */
record Balances(RunningGateway gateway) {

    List<Long> of(String tenant, String route) {
        QuotaSets sets = new QuotaSets(gateway.context().getBean(Policy.class));
        return Objects.requireNonNull(gateway.context()
                        .getBean(Quotas.class)
                        .balances(sets.of(TenantId.of(tenant), route))
                        .block())
                .stream()
                .map(Balance::remaining)
                .toList();
    }

    /** The last byte may reach the client before the gateway has settled. */
    void await(String tenant, long units) {
        RunningGateway.eventually(() -> assertThat(of(tenant, "plain")).containsExactly(units));
    }
}
