package io.fairgate.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class QuotaSetsTest {
    private static final TenantId ACME = TenantId.of("acme");

    private static QuotaRule rule(String name, String... routes) {
        return new QuotaRule(new Quota.Total(name, 5), Set.of(routes), true);
    }

    private static TenantPolicy tenant(TenantId id, String parent, QuotaRule... rules) {
        return new TenantPolicy(id, "plan", parent, ShareSettings.EQUAL, List.of(rules));
    }

    private static Policy policy() {
        Map<String, Group> groups = new LinkedHashMap<>();
        groups.put("corp", Group.of(ShareSettings.EQUAL));
        groups.put("labs", new Group(ShareSettings.EQUAL, "corp"));
        return new Policy(
                new Identification(List.of()),
                Map.of(ACME, tenant(ACME, "labs", rule("own"), rule("reports", "a", "b"))),
                tenant(TenantId.UNKNOWN, "corp", rule("others")),
                Map.of(),
                groups,
                Map.of(),
                new QuotaTerms(
                        Map.of("corp", List.of(rule("all"), rule("search", "b")), "labs", List.of(rule("lab"))),
                        QuotaTerms.HeaderStyle.DRAFT),
                Enforcement.FULL,
                Set.of(),
                Map.of(),
                Map.of());
    }

    private static List<String> labels(QuotaSet set) {
        return set.quotas().stream().map(OwnedQuota::label).toList();
    }

    @Test
    void a_request_is_charged_to_its_tenant_and_to_each_group_above_it() {
        QuotaSets sets = new QuotaSets(policy());
        assertThat(labels(sets.of(ACME, "c"))).containsExactly("own", "labs/lab", "corp/all");
        assertThat(labels(sets.of(TenantId.UNKNOWN, null))).containsExactly("others", "corp/all");
        assertThat(sets.of(TenantId.of("nobody"), "c")).isSameAs(QuotaSet.NONE);
    }

    @Test
    void a_quota_with_routes_applies_only_to_these_routes() {
        QuotaSets sets = new QuotaSets(policy());
        assertThat(labels(sets.of(ACME, "a"))).containsExactly("own", "reports", "labs/lab", "corp/all");
        assertThat(labels(sets.of(ACME, "b"))).containsExactly("own", "reports", "labs/lab", "corp/all", "corp/search");
        assertThat(labels(sets.of(TenantId.UNKNOWN, "b"))).containsExactly("others", "corp/all", "corp/search");
    }

    @Test
    void the_same_request_gets_the_same_set() {
        QuotaSets sets = new QuotaSets(policy());
        assertThat(sets.of(ACME, "b")).isSameAs(sets.of(ACME, "b"));
        assertThat(sets.of(ACME, "c")).isSameAs(sets.of(ACME, null));
    }

    @Test
    void a_tenant_and_a_group_list_only_their_own_quotas() {
        Policy policy = policy();
        assertThat(QuotaSets.own(Objects.requireNonNull(policy.tenant(ACME)), policy))
                .extracting(OwnedQuota::label)
                .containsExactly("own", "reports");
        assertThat(QuotaSets.own(Objects.requireNonNull(policy.unknown()), policy))
                .extracting(OwnedQuota::label)
                .containsExactly("others");
        assertThat(QuotaSets.own("corp", policy))
                .extracting(OwnedQuota::label)
                .containsExactly("corp/all", "corp/search");
        assertThat(QuotaSets.own("labs", policy)).extracting(OwnedQuota::label).containsExactly("labs/lab");
    }

    @Test
    void metrics_name_only_members() {
        assertThatThrownBy(() -> new Policy(
                        new Identification(List.of()),
                        Map.of(),
                        null,
                        Map.of(),
                        Map.of(),
                        Map.of(),
                        QuotaTerms.NONE,
                        Enforcement.FULL,
                        Set.of(ACME),
                        Map.of(),
                        Map.of()))
                .hasMessage("metrics.tenants: %s (expected: the id of a member)".formatted(ACME));
    }

    @Test
    void quotas_of_a_group_that_does_not_exist_are_refused() {
        QuotaTerms terms = new QuotaTerms(Map.of("nowhere", List.of()), QuotaTerms.HeaderStyle.DRAFT);
        assertThatThrownBy(() -> new Policy(
                        new Identification(List.of()),
                        Map.of(),
                        null,
                        Map.of(),
                        Map.of(),
                        Map.of(),
                        terms,
                        Enforcement.FULL,
                        Set.of(),
                        Map.of(),
                        Map.of()))
                .hasMessage("groups: nowhere with quotas (expected: the name of a group)");
    }
}
