package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code Tenant=a,b}: routes for some tenants. */
class TenantRouteTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private void start(String routes) {
        upstream.on("/premium/x", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\npremium"));
        upstream.on("/rest/x", exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrest"));
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  unknown: plan
                  plans: { plan: {} }
                  members: { a: { plan: plan }, b: { plan: plan }, c: { plan: plan } }
                pools:
                  pool: { permits: 4 }
                routes:
                """ + routes.replace("URL", upstream.url()));
    }

    private String body(String tenant) {
        Answer answer = Answer.to(gateway.url("/x"), "X-Tenant-Id", tenant);
        return answer.status() == 200 ? answer.body() : answer.status() + "";
    }

    private static final String PREMIUM = """
              - { id: premium, uri: "URL", predicates: [ Path=/x, "Tenant=a, b" ], filters: [ PrefixPath=/premium, FairShare=pool ] }
            """;
    private static final String REST = """
              - { id: rest, uri: "URL", predicates: [ Path=/x ], filters: [ PrefixPath=/rest ] }
            """;
    private static final String UNKNOWN = """
              - id: unknown
                uri: URL
                predicates: [ Path=/x, { name: Tenant, args: { tenants: [ _unknown ] } } ]
                filters: [ PrefixPath=/premium ]
            """;

    @Test
    void tenants_have_their_own_upstreams() {
        start(PREMIUM + REST);
        assertThat(body("a")).isEqualTo("premium");
        assertThat(body("b")).isEqualTo("premium");
        assertThat(body("c")).isEqualTo("rest");
        assertThat(body("invented")).isEqualTo("rest");
    }

    @Test
    void a_route_may_be_for_all_unknown_ids() {
        start(UNKNOWN + REST);
        assertThat(body("invented")).isEqualTo("premium");
        assertThat(body("a")).isEqualTo("rest");
    }

    @Test
    void an_unidentified_request_gets_401_if_only_tenants_have_routes() {
        start(PREMIUM);
        Answer unidentified = Answer.to(gateway.url("/x"));
        assertThat(unidentified.status()).isEqualTo(401);
        assertThat(unidentified.json("reason")).isEqualTo("missing");
        assertThat(Answer.to(gateway.url("/x"), "X-Tenant-Id", "a b").status()).isEqualTo(400);
        assertThat(body("c")).as("a tenant without a route").isEqualTo("404");
        assertThat(Answer.to(gateway.url("/elsewhere")).status()).isEqualTo(404);
        assertThat(upstream.requests()).isEmpty();
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains(
                        "fairgate_refusals_total{enforced=\"true\",pool=\"none\",reason=\"missing\",tenant=\"_other\"} 1.0");
    }
}
