package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** A policy from an application's own YAML, and what its environment adds or replaces. */
class PolicyPropertySourcesTest {

    private static final String YAML = """
            fairgate.policy:
              tenants:
                identify:
                  - header: X-Tenant-Id
                    trusted-from: [127.0.0.0/8, 10.0.0.0/8]
                plans:
                  gold:
                    weight: 3
                    quotas:
                      - { name: hourly, limit: 5, per: hour }
                      - { name: burst, limit: 9, per: 1s }
                  basic: {}
                members:
                  acme: { plan: gold }
                  42: { plan: basic, max-waiting: 3 }
                  43: { plan: basic }
              pools:
                orders: { permits: 4, maxHold: 5m }
                reports:
                  permits: ${REPORTS:7}
            """;

    private final ConfigurableEnvironment environment = new StandardEnvironment();

    private Policy policy(Map<String, Object> variables) {
        try {
            environment
                    .getPropertySources()
                    .addLast(new YamlPropertySourceLoader()
                            .load("yaml", new ByteArrayResource(YAML.getBytes(StandardCharsets.UTF_8)))
                            .get(0));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        environment
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", variables));
        ConfigurationPropertySources.attach(environment);
        return FairgateAutoConfiguration.policy(ConfigurationPropertySources.get(environment), Binder.get(environment));
    }

    private static TenantPolicy member(Policy policy, String id) {
        TenantPolicy member = policy.members().get(TenantId.of(id));
        assertThat(member).as(id).isNotNull();
        return member;
    }

    private static int permits(Policy policy, String pool) {
        return policy.pools().get(pool).permits();
    }

    @Test
    void properties_are_read_as_a_policy_file_with_the_same_tree() {
        Policy policy = policy(Map.of());
        assertThat(member(policy, "acme").quotas())
                .extracting(rule -> rule.quota().name())
                .containsExactly("hourly", "burst");
        assertThat(member(policy, "42").plan()).isEqualTo("basic");
        assertThat(policy.pools().get("orders").maxHold()).hasMinutes(5);
        assertThat(permits(policy, "reports")).isEqualTo(7);
    }

    @Test
    void a_variable_of_the_environment_replaces_one_value_and_adds_to_mappings() {
        Policy policy = policy(Map.of(
                "REPORTS", "8",
                "FAIRGATE_POLICY_POOLS_ORDERS_PERMITS", "5",
                "FAIRGATE_POLICY_POOLS_ORDERS_MAXWAITING", "6",
                "FAIRGATE_POLICY_POOLS_SPARE_PERMITS", "1"));
        assertThat(permits(policy, "orders")).isEqualTo(5);
        assertThat(policy.pools().get("orders").maxWaiting()).isEqualTo(6);
        assertThat(policy.pools().get("orders").maxHold()).hasMinutes(5);
        assertThat(permits(policy, "reports")).isEqualTo(8);
        assertThat(permits(policy, "spare")).isOne();
    }

    @Test
    void numbers_that_are_names_are_merged_like_other_names() {
        Policy policy = policy(Map.of(
                "FAIRGATE_POLICY_TENANTS_MEMBERS_42_PLAN", "gold",
                "FAIRGATE_POLICY_TENANTS_MEMBERS_007_PLAN", "gold",
                "FAIRGATE_POLICY_TENANTS_MEMBERS_4711000000_PLAN", "gold",
                "FAIRGATE_POLICY_POOLS_8_PERMITS", "8"));
        assertThat(member(policy, "42").plan()).isEqualTo("gold");
        assertThat(member(policy, "42").share().maxWaiting()).isEqualTo(3);
        assertThat(member(policy, "43").plan()).isEqualTo("basic");
        assertThat(member(policy, "007").plan()).isEqualTo("gold");
        assertThat(member(policy, "4711000000").plan()).isEqualTo("gold");
        assertThat(permits(policy, "8")).isEqualTo(8);
    }

    @Test
    void an_index_that_no_list_has_is_named() {
        assertThatThrownBy(() -> policy(Map.of("FAIRGATE_POLICY_TENANTS_IDENTIFY_4711000000_HEADER", "X-Id")))
                .hasMessageContaining("fairgate.policy.tenants.identify");
    }

    @Test
    void a_list_comes_from_the_first_source_that_has_one() {
        Policy policy = policy(Map.of(
                "FAIRGATE_POLICY_TENANTS_PLANS_GOLD_QUOTAS_0_NAME", "all",
                "FAIRGATE_POLICY_TENANTS_PLANS_GOLD_QUOTAS_0_LIMIT", "3",
                "FAIRGATE_POLICY_TENANTS_PLANS_GOLD_QUOTAS_0_PER", "total"));
        assertThat(member(policy, "acme").quotas())
                .extracting(rule -> rule.quota())
                .containsExactly(new Quota.Total("all", 3));
    }

    @Test
    void an_empty_text_is_an_empty_list_and_a_text_with_commas_is_a_list() {
        Policy policy = policy(Map.of(
                "FAIRGATE_POLICY_TENANTS_PLANS_GOLD_QUOTAS", "",
                "FAIRGATE_POLICY_METRICS_TENANTS", "acme, 42"));
        assertThat(member(policy, "acme").quotas()).isEmpty();
        assertThat(policy.tenantsInMetrics()).containsExactlyInAnyOrder(TenantId.of("acme"), TenantId.of("42"));
    }

    @Test
    void every_mistake_is_named_at_once() {
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "mistakes",
                        Map.of(
                                "fairgate.policy.pools.orders.permits", "many",
                                "fairgate.policy.tenants.members.acme.plan", "golden",
                                "fairgate.policy.routes[0].id", "r")));
        assertThatThrownBy(() -> policy(Map.of()))
                .hasMessageContaining("fairgate.policy.pools.orders.permits: many (expected: a whole number")
                .hasMessageContaining(
                        "fairgate.policy.tenants.members.acme.plan: unknown plan \"golden\" (expected: one of gold, basic; did you"
                                + " mean gold?)")
                .hasMessageContaining("fairgate.policy.routes: unknown key (expected: one of tenants, pools");
    }
}
