package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tenant of a request, and the answers to unidentified requests. Members are a and b. */
class IdentityTest {

    /** On this platform Boot lets X-Forwarded-For replace a request's remote address by default. */
    private static final String FORWARDED_HEADERS_ARE_BELIEVED = "--spring.main.cloud-platform=kubernetes";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                    - { header: X-Edge-Tenant, trusted-from: [10.0.0.0/8] }
                  plans: { plan: {} }
                  members: { a: { plan: plan }, b: { plan: plan } }
                """ + GatewayAndUpstream.FAIR_ROUTE, FORWARDED_HEADERS_ARE_BELIEVED);
    }

    @ParameterizedTest(name = "{0}: {2} {3}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, quoteCharacter = '\'', textBlock = """
            a member                       | 'X-Tenant-Id: a'                   | 200 | ''
            a member, in other letters     | 'x-tenant-ID:a'                    | 200 | ''
            no header                      | 'X-Other: a'                       | 401 | missing
            a blank value                  | 'X-Tenant-Id: '                    | 400 | malformed
            spaces only                    | 'X-Tenant-Id:    '                 | 400 | malformed
            two lines                      | 'X-Tenant-Id: a~X-Tenant-Id: b'    | 400 | malformed
            the same line twice            | 'X-Tenant-Id: a~X-Tenant-Id: a'    | 400 | malformed
            a list                         | 'X-Tenant-Id: a,b'                 | 400 | malformed
            a space inside                 | 'X-Tenant-Id: a b'                 | 400 | malformed
            a slash                        | 'X-Tenant-Id: a/b'                 | 400 | malformed
            a brace                        | 'X-Tenant-Id: a}'                  | 400 | malformed
            a quote                        | 'X-Tenant-Id: "a"'                 | 400 | malformed
            bytes that are not ASCII       | 'X-Tenant-Id: \u00c3\u00a4'        | 400 | malformed
            65 characters                  | 'X-Tenant-Id: 12345678901234567890123456789012345678901234567890123456789012345' | 400 | malformed
            64 characters, not a member    | 'X-Tenant-Id: 1234567890123456789012345678901234567890123456789012345678901234'  | 403 | unknown-tenant
            an unknown id                  | 'X-Tenant-Id: nobody'              | 403 | unknown-tenant
            a member in other letters      | 'X-Tenant-Id: A'                   | 403 | unknown-tenant
            the tag of all others          | 'X-Tenant-Id: _other'              | 403 | unknown-tenant
            a header for other peers       | 'X-Edge-Tenant: a'                 | 403 | untrusted-peer
            other peers' beside ours       | 'X-Edge-Tenant: a~X-Tenant-Id: a'  | 403 | untrusted-peer
            a forged address               | 'X-Edge-Tenant: a~X-Forwarded-For: 10.1.2.3'  | 403 | untrusted-peer
            a forged address, by RFC 7239  | 'X-Edge-Tenant: a~Forwarded: for=10.1.2.3'    | 403 | untrusted-peer
            """)
    void a_request_has_a_tenant_or_is_refused(String what, String headers, int status, String reason) throws Exception {
        String answer = both.raw("/fair/x", headers.split("~"));
        assertThat(answer).as(what).startsWith("HTTP/1.1 " + status + " ");
        if (reason.isEmpty()) {
            assertThat(answer).endsWith("\r\n\r\nok");
        } else {
            assertThat(answer)
                    .contains("application/problem+json")
                    .contains("\"type\":\"about:blank\"", "\"reason\":\"" + reason + "\"", "\"decision\":\"");
            assertThat(both.upstream().requests()).isEmpty();
        }
    }

    @Test
    void a_request_without_a_tenant_is_not_told_the_headers_of_proxies() {
        Answer answer = both.ask("/fair/x");
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.lines("WWW-Authenticate")).containsExactly("Fairgate realm=\"fairgate\"");
    }

    @Test
    void the_upstream_gets_the_tenants_header_once() {
        both.ask("/fair/x", "X-Tenant-Id", "a");
        assertThat(both.got("X-Tenant-Id")).containsExactly("X-Tenant-Id: a");
    }

    @Test
    void refused_ids_leave_nothing_behind() throws Exception {
        both.raw("/fair/x", "X-Tenant-Id: a");
        both.raw("/fair/x", "X-Tenant-Id: invented-0");
        both.raw("/fair/x", "X-Tenant-Id: {0}");
        long meters = fairgateMeters();
        for (int i = 1; i <= 50; i++) {
            both.raw("/fair/x", "X-Tenant-Id: invented-" + i);
            both.raw("/fair/x", "X-Tenant-Id: {" + i + "}");
        }
        assertThat(both.gateway().pool("pool").tenants())
                .extracting(tenant -> tenant.tenant().value())
                .isSubsetOf("a", "b");
        assertThat(fairgateMeters()).isEqualTo(meters);
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                        .body())
                .doesNotContain("invented")
                .contains(
                        "fairgate_refusals_total{enforced=\"true\",pool=\"none\",reason=\"unknown-tenant\",tenant=\"_other\"}");
    }

    private static long fairgateMeters() {
        return Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                .body()
                .lines()
                .filter(line -> line.startsWith("fairgate_"))
                .count();
    }
}
