package io.fairgate.config;

import static io.fairgate.config.PolicyReaderTest.IDENTIFY;
import static io.fairgate.config.PolicyReaderTest.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a policy file says of plans, their members, quotas and groups. */
class TenantsReaderTest {

    @Test
    void reserved_permits_are_guaranteed_as_well() {
        TenantPolicy acme = member("{ reserved: 3 }", "{ plan: gold }");

        assertThat(acme.share()).isEqualTo(ShareSettings.EQUAL.withGuaranteed(3, 3));
    }

    @Test
    void a_member_that_reserves_more_is_guaranteed_more_unless_its_plan_says_otherwise() {
        TenantPolicy acme = member("{ reserved: 3 }", "{ plan: gold, reserved: 5 }");

        assertThat(acme.share()).isEqualTo(ShareSettings.EQUAL.withGuaranteed(5, 5));
    }

    @Test
    void a_member_overrides_its_plan_key_by_key_and_the_list_of_quotas_as_a_whole() {
        TenantPolicy acme = member(
                "{ weight: 2, max-in-flight: 7, quotas: [ { name: a, limit: 1, per: 1s }, { name: b, limit: 1, per: 1s } ] }",
                "{ plan: gold, weight: 0.5, quotas: [ { name: c, limit: 5, per: 1s, burst: 9 } ] }");

        assertThat(acme.share()).isEqualTo(ShareSettings.EQUAL.withWeight(0.5).withMaxInFlight(7));
        assertThat(acme.quotas()).containsExactly(QuotaRule.of(new Quota.Rate("c", 5, Duration.ofSeconds(1), 9)));
    }

    @Test
    void a_member_without_quotas_of_its_own_has_those_of_its_plan() {
        TenantPolicy acme = member(
                "{ quotas: [ { name: a, limit: 3, per: 1d }, { name: b, limit: 4, per: day },"
                        + " { name: c, limit: 5, per: month, zone: Europe/Berlin } ] }",
                "{ plan: gold }");

        assertThat(acme.quotas())
                .extracting(QuotaRule::quota)
                .containsExactly(
                        new Quota.Rate("a", 3, Duration.ofDays(1), 3),
                        new Quota.Calendar("b", 4, Quota.CalendarUnit.DAY, ZoneOffset.UTC),
                        new Quota.Calendar("c", 5, Quota.CalendarUnit.MONTH, ZoneId.of("Europe/Berlin")));
    }

    @Test
    void metrics_name_members_and_none_by_default() {
        String members =
                IDENTIFY + ", plans: { gold: {} }, members: { acme: { plan: gold }, globex: { plan: gold } } }\n";
        assertThat(read("metrics: { tenants: [ globex ] }\n" + members).policy().tenantsInMetrics())
                .containsExactly(TenantId.of("globex"));
        assertThat(read("metrics: {}\n" + members).policy().tenantsInMetrics()).isEmpty();
        assertThat(read(members).policy().tenantsInMetrics()).isEmpty();
    }

    @Test
    void every_kind_of_quota_is_read_with_its_routes_and_whether_it_is_enforced() {
        PolicyFile file = read("rate-limit-headers: legacy\n" + IDENTIFY + """
                ,
                  groups: { corp: { quotas: [ { name: all, limit: 9, per: total, routes: [a] } ] } },
                  plans: { gold: { quotas: [
                    { name: h, limit: 1, per: hour }, { name: w, limit: 2, per: week, zone: Asia/Tokyo, enforce: false },
                    { name: s, limit: 3, within: 90s, routes: [a, b], enforce: true } ] } },
                  members: { acme: { plan: gold } } }
                routes:
                  - { id: a, uri: "http://localhost:1", predicates: [ Path=/a ] }
                  - { id: b, uri: "http://localhost:1", predicates: [ Path=/b ] }
                """);

        assertThat(Objects.requireNonNull(file.policy().members().get(TenantId.of("acme")))
                        .quotas())
                .containsExactly(
                        QuotaRule.of(new Quota.Calendar("h", 1, Quota.CalendarUnit.HOUR, ZoneOffset.UTC)),
                        new QuotaRule(
                                new Quota.Calendar("w", 2, Quota.CalendarUnit.WEEK, ZoneId.of("Asia/Tokyo")),
                                Set.of(),
                                false),
                        new QuotaRule(new Quota.Sliding("s", 3, Duration.ofSeconds(90)), Set.of("a", "b"), true));
        assertThat(file.policy().quotaTerms())
                .isEqualTo(new QuotaTerms(
                        Map.of("corp", List.of(new QuotaRule(new Quota.Total("all", 9), Set.of("a"), true))),
                        QuotaTerms.HeaderStyle.LEGACY));
    }

    @Test
    void unknown_ids_share_the_plan_that_the_file_names() {
        TenantPolicy unknown = read(IDENTIFY + ", unknown: free, plans: { free: { reserved: 2 } } }")
                .policy()
                .unknown();

        assertThat(unknown)
                .isEqualTo(new TenantPolicy(
                        TenantId.UNKNOWN, "free", ShareSettings.EQUAL.withGuaranteed(2, 2), List.of()));
    }

    @Test
    void tenants_are_in_the_group_of_their_plan_or_in_one_of_their_own_and_groups_in_each_other() {
        Policy policy = read(IDENTIFY + """
                ,
                  groups: { corp: { weight: 2, reserved: 5, max-in-flight: 20 }, labs: { parent: corp } },
                  classes: { batch: { max-in-flight: 4 } },
                  unknown: free,
                  plans: { gold: { parent: corp }, free: {} },
                  members: { a: { plan: gold }, b: { plan: gold, parent: labs }, c: { plan: free } } }
                """).policy();

        TenantShares shares = policy.shares();
        assertThat(shares.groups().byName())
                .containsEntry(
                        "corp",
                        Group.of(ShareSettings.ofWeight(2).withGuaranteed(5, 5).withMaxInFlight(20)))
                .containsEntry("labs", new Group(ShareSettings.EQUAL, "corp"));
        assertThat(shares.groups().parents())
                .containsOnly(Map.entry(TenantId.of("a"), "corp"), Map.entry(TenantId.of("b"), "labs"));
        assertThat(shares.classes()).containsOnly(Map.entry("batch", ShareSettings.EQUAL.withMaxInFlight(4)));
        assertThat(shares.reserved()).isEqualTo(5);
    }

    private static TenantPolicy member(String plan, String member) {
        return Objects.requireNonNull(
                read(IDENTIFY + ", plans: { gold: " + plan + " }, members: { acme: " + member + " } }")
                        .policy()
                        .members()
                        .get(TenantId.of("acme")));
    }
}
