package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairgate.fairness.ShareGroups.Group;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.policy.TokenRules;
import io.fairgate.quota.Quota;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PolicyReaderTest {
    private static final String IDENTIFY =
            "tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]";

    @Test
    void a_policy_holds_what_the_file_says() {
        PolicyFile file = read(IDENTIFY + """
                ,
                  plans: { gold: { weight: 4, guaranteed: 8, reserved: 2, max-in-flight: 9, max-waiting: 5 } },
                  members: { acme: { plan: gold } } }
                pools: { orders: { permits: 64, max-waiting: 10, max-wait: 250ms, max-hold: PT2M } }
                """);

        assertThat(file.policy().identification().sources())
                .containsExactly(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.0/8"))));
        assertThat(file.policy().members())
                .containsExactly(Map.entry(
                        TenantId.of("acme"),
                        new TenantPolicy(TenantId.of("acme"), "gold", new ShareSettings(4, 9, 5, 8, 2), List.of())));
        assertThat(file.policy().unknown()).isNull();
        assertThat(file.policy().pools())
                .containsExactly(
                        Map.entry("orders", new PoolSettings(64, 10, Duration.ofMillis(250), Duration.ofMinutes(2))));
    }

    @Test
    void what_is_leased_of_a_pool_has_bounds_of_its_own() {
        assertThat(read(IDENTIFY + " }\npools: { a: { permits: 1, lease: { max-ttl: 1m, max-hold: 2h } },"
                                + " b: { permits: 1, lease: { max-hold: 1h } }, c: { permits: 1 } }")
                        .policy()
                        .pools()
                        .values())
                .extracting(PoolSettings::leases)
                .containsExactly(
                        new LeaseBounds(Duration.ofMinutes(1), Duration.ofHours(2)),
                        new LeaseBounds(Duration.ofMinutes(5), Duration.ofHours(1)),
                        new LeaseBounds(Duration.ofMinutes(5), Duration.ofHours(24)));
    }

    @Test
    void every_way_of_identification_is_read() {
        String hex = "0123456789abcdef".repeat(4);
        Identification read = read("""
                tenants:
                  identify:
                    - api-key: { header: X-Api-Key }
                    - api-key: { header: Authorization, scheme: Key, forward: true }
                    - jwt: { header: X-Token, issuer: i, audience: fairgate, jwks: https://i/keys }
                    - jwt:
                        issuer: i
                        audience: a
                        claim: org.tenant
                        algorithms: [ES384]
                        jwks: /keys.json
                        refresh: 1h
                        skew: 5s
                        forward: false
                    - client-certificate: { name: san-dns }
                  forward-as: none
                  plans: { plan: {} }
                  members:
                    acme: { plan: plan, api-keys: [ "sha256:%s" ], certificates: [ a.example.com ] }
                """.formatted(hex)).policy().identification();

        assertThat(read.sources())
                .containsExactly(
                        new IdentitySource.ApiKey("X-Api-Key", null, false),
                        new IdentitySource.ApiKey("Authorization", "Key", true),
                        new IdentitySource.Jwt(
                                "X-Token",
                                true,
                                new TokenRules(
                                        "i",
                                        "fairgate",
                                        "tenant",
                                        Set.of("RS256", "PS256", "ES256"),
                                        Duration.ofSeconds(30)),
                                new KeySetLocation("https://i/keys", Duration.ofMinutes(5))),
                        new IdentitySource.Jwt(
                                "Authorization",
                                false,
                                new TokenRules("i", "a", "org.tenant", Set.of("ES384"), Duration.ofSeconds(5)),
                                new KeySetLocation("/keys.json", Duration.ofHours(1))),
                        new IdentitySource.ClientCertificate(IdentitySource.CertificateName.SAN_DNS));
        assertThat(read.forwardAs()).isNull();
        assertThat(read.apiKeys().owner(new ApiKeyHash(hex))).isEqualTo(TenantId.of("acme"));
        assertThat(read.certificates()).containsExactly(Map.entry("a.example.com", TenantId.of("acme")));
    }

    @Test
    void a_pool_needs_its_permits_only() {
        assertThat(read(IDENTIFY + "}\npools: { orders: { permits: 64 } }")
                        .policy()
                        .pools())
                .containsExactly(Map.entry("orders", PoolSettings.ofPermits(64)));
    }

    @Test
    void what_is_reserved_is_guaranteed_as_well() {
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
                        QuotaTerms.Told.LEGACY));
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

    @Test
    void every_mistake_of_a_tree_is_told_at_once() {
        assertThat(mistakes("fairgate.yml", """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  groups:
                    a: { parent: b, weight: 0 }
                    b: { parent: a }
                    c: { max-in-flight: 1 }
                    d: { colour: red, parent: none }
                  plans: { gold: { reserved: 2, parent: c } }
                  members: { x: { plan: gold }, y: { plan: gold, parent: e } }
                """))
                .extracting(mistake -> mistake.line() + " " + mistake.key())
                .containsExactly(
                        "4 tenants.groups.a.parent",
                        "4 tenants.groups.a.weight",
                        "6 tenants.groups.c.max-in-flight",
                        "7 tenants.groups.d.colour",
                        "7 tenants.groups.d.parent",
                        "9 tenants.members.y.parent");
    }

    @Test
    void a_name_may_look_like_a_number_or_a_truth() {
        assertThat(read(IDENTIFY + ", plans: { 1: {} }, members: { 007: { plan: 1 }, no: { plan: 1 } } }")
                        .policy()
                        .members())
                .containsOnlyKeys(TenantId.of("007"), TenantId.of("no"));
    }

    @Test
    void a_route_keeps_its_yaml_and_the_lines_of_its_parts() {
        PolicyFile file = read(IDENTIFY + """
                }
                pools: { orders: { permits: 64 } }
                routes:
                  - id: orders
                    uri: http://localhost:9000
                    order: 7
                    enabled: true
                    metadata: { timeout: 5000, big: 5000000000, ratio: 0.5, odd: 010, off: no, quoted: "1" }
                    predicates:
                      - Path=/orders/**
                      - { name: Method, args: { methods: GET } }
                    filters:
                      - FairShare = orders
                      - FairShare=orders , 2

                      - { name: Retry, args: { retries: 2 } }
                """);

        RouteDeclaration route = file.routes().get(0);
        assertThat(route.id()).isEqualTo("orders");
        assertThat(route.line()).isEqualTo(4);
        assertThat(route.predicateLines()).containsExactly(10, 11);
        assertThat(route.filterLines()).containsExactly(13, 14, 16);
        assertThat(route.definition())
                .containsEntry("order", 7)
                .containsEntry("enabled", true)
                .containsEntry(
                        "metadata",
                        Map.of(
                                "timeout",
                                5000,
                                "big",
                                5_000_000_000L,
                                "ratio",
                                0.5,
                                "odd",
                                "010",
                                "off",
                                "no",
                                "quoted",
                                "1"))
                .containsEntry(
                        "predicates",
                        List.of("Path=/orders/**", Map.of("name", "Method", "args", Map.of("methods", "GET"))));
        assertThat(route.definition().keySet())
                .containsExactly("id", "uri", "order", "enabled", "metadata", "predicates", "filters");
    }

    @Test
    void anchors_and_aliases_are_followed() {
        assertThat(read(IDENTIFY + "}\npools: { a: &a { permits: 64 }, b: *a }")
                        .policy()
                        .pools())
                .containsOnlyKeys("a", "b");
    }

    @Test
    void one_defect_that_aliases_repeat_is_told_once() {
        assertThat(mistakes(IDENTIFY + "}\npools: { a: &a { permits: 0 }, b: *a }"))
                .hasSize(1);
    }

    @Test
    void all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
        assertThat(mistakes("""
                        routes:
                          - id: ""
                            uri: http://localhost:9000
                            predicates: []
                            filters: [ FairShare=ordres ]
                        pools:
                          orders: { permits: 0, max-waiting: -1, max-wait: 0s, max-hold: 1 }
                          small: { permits: 2 }
                          tiny: { permits: 1 }
                          broken: { permits: many }
                        tenants:
                          identify:
                            - { header: "a b", trusted-from: [here] }
                          plans:
                            gold: { weight: 0, max-in-flight: 0, max-waiting: x, guaranteed: -1, reserved: 3 }
                          members:
                            acme: { plan: gold }
                            globex: { plan: gld }
                        """))
                .extracting(mistake -> mistake.line() + " " + mistake.key())
                .containsExactly(
                        "2 routes[0].id",
                        "4 routes[0].predicates",
                        "5 routes[0].filters[0]",
                        "7 pools.orders.permits",
                        "7 pools.orders.max-waiting",
                        "7 pools.orders.max-wait",
                        "7 pools.orders.max-hold",
                        "8 pools.small.permits",
                        "9 pools.tiny.permits",
                        "10 pools.broken.permits",
                        "13 tenants.identify[0].header",
                        "13 tenants.identify[0].trusted-from[0]",
                        "15 tenants.plans.gold.weight",
                        "15 tenants.plans.gold.max-in-flight",
                        "15 tenants.plans.gold.max-waiting",
                        "15 tenants.plans.gold.guaranteed",
                        "18 tenants.members.globex.plan");
    }

    @Test
    void the_message_of_the_exception_lists_the_mistakes_one_a_line() {
        InvalidPolicyException invalid = Objects.requireNonNull(
                catchThrowableOfType(InvalidPolicyException.class, () -> read("pool: {}\ntenants: []\n")));

        assertThat(invalid).hasMessage("""
                fairgate.yml:1: pool: unknown key (expected: one of tenants, pools, routes, rate-limit-headers, enforce; did you mean pools?)
                fairgate.yml:2: tenants: an empty list (expected: a mapping with keys of identify, forward-as, unknown, plans, members, groups, classes)""");
    }

    @Test
    void a_mistake_is_one_short_line_whatever_the_file_holds() {
        List<Mistake> mistakes =
                mistakes(IDENTIFY + "}\npools: { orders: { permits: \"a\\nb\\e[0m" + "x".repeat(999) + "\" } }");

        assertThat(mistakes)
                .singleElement()
                .satisfies(mistake -> assertThat(mistake.toString())
                        .startsWith("fairgate.yml:2: pools.orders.permits: \"a\\u000ab\\u001b[0mxxx")
                        .hasSizeLessThan(400));
    }

    static PolicyFile read(String text) {
        return PolicyReader.read("fairgate.yml", text);
    }

    static List<Mistake> mistakes(String text) {
        return mistakes("fairgate.yml", text);
    }

    static List<Mistake> mistakes(String fileName, String text) {
        return Objects.requireNonNull(
                        catchThrowableOfType(InvalidPolicyException.class, () -> PolicyReader.read(fileName, text)))
                .mistakes();
    }

    private static TenantPolicy member(String plan, String member) {
        return Objects.requireNonNull(
                read(IDENTIFY + ", plans: { gold: " + plan + " }, members: { acme: " + member + " } }")
                        .policy()
                        .members()
                        .get(TenantId.of("acme")));
    }
}
