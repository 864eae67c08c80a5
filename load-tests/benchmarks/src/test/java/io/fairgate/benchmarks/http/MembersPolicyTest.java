package io.fairgate.benchmarks.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.config.PolicyReader;
import io.fairgate.policy.Policy;
import io.fairgate.tenant.TenantId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MembersPolicyTest {

    @ParameterizedTest
    @ValueSource(ints = {MembersLines.FEW, MembersLines.MANY})
    void a_policy_of_any_size_contains_the_active_tenants(int members) {
        Policy policy = PolicyReader.read("members.yml", MembersPolicy.text(members, 9000, 9001))
                .policy();

        assertThat(policy.members()).hasSize(members);
        for (int i = 0; i < MembersLines.FEW; i++) {
            assertThat(policy.members()).containsKey(TenantId.of(MembersPolicy.active(i)));
        }
    }
}
