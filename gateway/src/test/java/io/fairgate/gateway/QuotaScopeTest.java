package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The quotas to which a request is charged, by route, tenant and group. */
class QuotaScopeTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  groups:
                    corp: { quotas: [ { name: all, limit: 3, per: total } ] }
                  plans:
                    trial:
                      quotas:
                        - { name: trial, limit: 1, per: total, enforce: false }
                        - { name: real, limit: 5, per: total }
                    scoped:
                      quotas: [ { name: five, limit: 5, per: total, routes: [five] } ]
                    paths:
                      quotas: [ { name: five, limit: 1000, per: total, routes: [five] } ]
                  members:
                    paths: { plan: paths }
                    tries: { plan: trial }
                    scoped: { plan: scoped }
                    one: { plan: scoped, parent: corp }
                    two: { plan: scoped, parent: corp }
                routes:
                  - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
                  - { id: five, uri: "UPSTREAM", predicates: [ "Path=/five/**" ], filters: [ "Cost=5" ] }
                  - { id: rest, uri: "UPSTREAM", predicates: [ "Path=/**" ] }
                """.replace("UPSTREAM", upstream.url()), "--fairgate.ambiguous-paths=pass");
    }

    private static Answer ask(String path, String tenant) {
        return Answer.to(gateway.url(path), "X-Tenant-Id", tenant);
    }

    @Test
    void a_quota_in_dry_run_refuses_nothing_is_not_sent_to_clients_and_is_counted() {
        for (int i = 0; i < 3; i++) {
            Answer answer = ask("/plain/x", "tries");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.field("RateLimit")).isEqualTo("\"real\";r=" + (4 - i));
        }
        assertThat(new Balances(gateway).of("tries", "plain")).containsExactly(0L, 2L);
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains(
                        "fairgate_refusals_total{enforced=\"false\",pool=\"none\",reason=\"quota\",tenant=\"tries\"} 2.0");
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions")).body())
                .contains("\"quotas\":[\"trial\"],\"enforced\":false");
    }

    @Test
    void a_quota_with_routes_applies_only_to_these_routes() {
        assertThat(ask("/five/x", "scoped").status()).isEqualTo(200);
        assertThat(ask("/five/x", "scoped").status()).isEqualTo(429);
        Answer elsewhere = ask("/plain/x", "scoped");
        assertThat(elsewhere.status()).isEqualTo(200);
        assertThat(elsewhere.lines("RateLimit")).isEmpty();
    }

    /** The disadvantage of a catch-all route: see "Paths" in docs/quotas.md. */
    @ParameterizedTest
    @CsvSource({
        "/five/x, true",
        "/%66ive/x, true",
        "/five;a=b/x, true",
        "/five/../x, true",
        "/five//x, true",
        "//five/x, false",
        "/five%2Fx, false",
        "/x/../five/x, false",
        "/FIVE/x, false"
    })
    void a_route_is_chosen_by_the_original_path(String path, boolean isFive) throws IOException {
        try (RawClient client = new RawClient(gateway.port())) {
            client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Tenant-Id: paths\r\n\r\n");
            assertThat(client.readAll())
                    .startsWith("HTTP/1.1 200 OK")
                    .satisfies(answer ->
                            assertThat(answer.contains("\"five\";q=1000")).isEqualTo(isFive));
        }
        assertThat(upstream.requests()).contains("GET " + path.replace("//", "/") + " HTTP/1.1");
    }

    @Test
    void tenants_share_the_quota_of_their_group_which_is_named_with_the_group() {
        assertThat(ask("/plain/x", "one").field("RateLimit")).isEqualTo("\"corp/all\";r=2");
        assertThat(ask("/plain/x", "two").field("RateLimit")).isEqualTo("\"corp/all\";r=1");
        assertThat(ask("/plain/x", "one").status()).isEqualTo(200);
        Answer refused = ask("/plain/x", "two");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.json()).containsEntry("violated-policies", List.of("corp/all"));
        MetricsPage metrics = MetricsPage.of(gateway);
        assertThat(metrics.value("fairgate_quota_limit", "quota", "corp/all", "tenant", "_group"))
                .isEqualTo(3);
        assertThat(metrics.value("fairgate_quota_remaining", "quota", "corp/all", "tenant", "_group"))
                .isZero();
    }
}
