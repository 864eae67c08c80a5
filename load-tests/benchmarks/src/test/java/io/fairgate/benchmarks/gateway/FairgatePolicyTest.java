package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.PolicyReader;
import io.fairgate.policy.Policy;
import io.fairgate.tenant.TenantId;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairgatePolicyTest {

    private static Policy read(String quotas, String filters) {
        String text = new FairgatePolicy(List.of("a", "b"), quotas, 32, filters).text(9000);
        return PolicyReader.read("policy.yml", text).policy();
    }

    @Test
    void a_policy_has_its_members_and_its_pool() {
        Policy policy = read("", "");

        assertThat(policy.members()).containsOnlyKeys(TenantId.of("a"), TenantId.of("b"));
        assertThat(policy.pools()).containsOnlyKeys("pool");
    }

    @Test
    void the_policies_with_quotas_and_a_filter_are_valid() {
        assertThat(read(GatewayCost.QUOTAS, "FairShare=pool").members()).hasSize(2);
    }
}
