package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.policy.TokenRules;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a policy file says of identification, pools and routes. */
class PolicyReaderTest {
    static final String IDENTIFY = "tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]";

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
    void a_pool_says_what_becomes_of_a_request_whose_client_has_left_and_else_it_is_finished() {
        assertThat(read(IDENTIFY + " }\npools: { a: { permits: 1, on-client-left: close },"
                                + " b: { permits: 1, on-client-left: finish }, c: { permits: 1 } }")
                        .policy()
                        .pools()
                        .values())
                .extracting(PoolSettings::onClientLeft)
                .containsExactly(OnClientLeft.CLOSE, OnClientLeft.FINISH, OnClientLeft.FINISH);
    }

    @Test
    void leases_of_a_pool_have_bounds_of_their_own() {
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
                    - bean: accountOfUser
                  forward-as: none
                  plans: { plan: {} }
                  members:
                    acme: { plan: plan, api-keys: [ "sha256:%s" ], certificates: [ a.example.com ] }
                """.formatted(hex)).policy().identification();

        assertThat(read.sources())
                .containsExactly(
                        new IdentitySource.ApiKey(new CredentialHeader("X-Api-Key", null, false)),
                        new IdentitySource.ApiKey(new CredentialHeader("Authorization", "Key", true)),
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
                        new IdentitySource.ClientCertificate(IdentitySource.CertificateName.SAN_DNS),
                        new IdentitySource.Bean(
                                "accountOfUser",
                                new IdentitySource.Place("fairgate.yml", 16, "tenants.identify[5].bean")));
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
}
