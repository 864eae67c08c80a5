package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.ApiKeyHash;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** API keys, beside a plain header; members are a, with an old key and a new one, and b. */
@ExtendWith(OutputCaptureExtension.class)
class ApiKeyTest {

    private static final String NEW = "fg_new-key-of-a-0123456789";
    private static final String OLD = "fg_old-key-of-a-0123456789";
    private static final String OF_B = "fg_only-key-of-b-0123456789";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                """
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                    - { header: X-Edge-Tenant, trusted-from: [10.0.0.0/8] }
                    - api-key: { header: X-Api-Key }
                    - api-key: { header: Authorization, scheme: Key, forward: true }
                    - api-key: { header: X-Partner-Key, forward: true }
                    - api-key: { header: X-Auth, scheme: Key, forward: true }
                  forward-as: X-Tenant
                  plans: { plan: {} }
                  members:
                    a: { plan: plan, api-keys: [ "%s", "%s" ] }
                    b: { plan: plan, api-keys: [ "%s" ] }
                pools:
                  pool: { permits: 4 }
                routes:
                  - id: fair
                    uri: http://UPSTREAM
                    predicates: [ "Path=/fair/**" ]
                    filters: [ "FairShare=pool", "AddRequestHeader=X-Api-Key,upstreams-own" ]
                """.formatted(hash(OLD), hash(NEW), hash(OF_B)),
                "--logging.level.io.fairgate.audit=info",
                "--logging.level.io.fairgate=debug");
    }

    private static String hash(String key) {
        return ApiKeyHash.of(key).text();
    }

    @ParameterizedTest(name = "{0}: {2} {3}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, quoteCharacter = '\'', textBlock = """
            the new key                    | 'X-Api-Key: NEW'                        | 200 | a
            the old key                    | 'x-api-key: OLD'                        | 200 | a
            the other tenant's             | 'X-Api-Key: OFB'                        | 200 | b
            after a scheme                 | 'Authorization: Key OFB'                | 200 | b
            after a scheme, other letters  | 'Authorization: kEY OFB'                | 200 | b
            the same tenant, two ways      | 'X-Api-Key: NEW~Authorization: Key OLD' | 200 | a
            beside a header that agrees    | 'X-Tenant-Id: a~X-Api-Key: NEW'         | 200 | a
            after a scheme, two spaces     | 'Authorization: Key  OFB'               | 200 | b
            after a scheme, and a tab      | 'Authorization: Key\tOFB'               | 200 | b
            beside another scheme          | 'Authorization: Basic eDp5~X-Api-Key: NEW' | 200 | a
            a key in the policy's form     | 'X-Api-Key: HASH'                       | 401 | invalid-key
            an unknown key                 | 'X-Api-Key: fg_nobodys-0123456789012'   | 401 | invalid-key
            a key in other letters         | 'X-Api-Key: FG_NEW-KEY-OF-A-0123456789' | 401 | invalid-key
            a key and more                 | 'X-Api-Key: NEW1'                       | 401 | invalid-key
            a key and another, in one line | 'X-Api-Key: NEW,OLD'                    | 401 | invalid-key
            a very long one                | 'X-Api-Key: LONG'                       | 401 | invalid-key
            not valid, beside a header     | 'X-Tenant-Id: a~X-Api-Key: fg_nobodys-0123456789012' | 401 | invalid-key
            not valid, after two spaces    | 'X-Tenant-Id: a~Authorization: Key  fg_nobodys-0123456789012' | 401 | invalid-key
            not valid, after a tab         | 'X-Tenant-Id: a~Authorization: Key\tfg_nobodys-0123456789012' | 401 | invalid-key
            not valid, after a wide space  | 'X-Tenant-Id: a~Authorization: kEY\u00a0fg_nobodys-0123456789012' | 401 | invalid-key
            not valid, and a space before  | 'X-Tenant-Id: a~Authorization: \u00a0Key fg_nobodys-0123456789012' | 401 | invalid-key
            not valid, in the second line  | 'X-Tenant-Id: a~Authorization: Basic eDp5~Authorization: Key x' | 401 | invalid-key
            an empty one                   | 'X-Api-Key: '                           | 400 | malformed
            an empty one after a scheme    | 'Authorization: Key'                    | 400 | malformed
            the same line twice            | 'X-Api-Key: NEW~X-Api-Key: NEW'         | 400 | malformed
            another scheme only            | 'Authorization: Bearer NEW'             | 401 | missing
            a scheme that begins the same  | 'Authorization: Keys OFB'               | 401 | missing
            a scheme that ends the same    | 'Authorization: MyKey OFB'              | 401 | missing
            no scheme                      | 'Authorization: NEW'                    | 401 | missing
            two tenants, two ways          | 'X-Api-Key: NEW~Authorization: Key OFB' | 403 | contradiction
            a header of another            | 'X-Tenant-Id: b~X-Api-Key: NEW'         | 403 | contradiction
            a header of an unknown tenant  | 'X-Tenant-Id: nobody~X-Api-Key: NEW'    | 403 | contradiction
            a header of no trusted peer    | 'X-Edge-Tenant: a~X-Api-Key: NEW'       | 403 | untrusted-peer
            """)
    void a_key_names_its_tenant_and_other_identities_must_agree(
            String what, String headers, int status, String tenantOrReason) throws Exception {
        String sent = headers.replace("NEW", NEW)
                .replace("OLD", OLD)
                .replace("OFB", OF_B)
                .replace("HASH", hash(NEW))
                .replace("LONG", "x".repeat(5000));
        String answer = raw(sent.split("~"));
        assertThat(answer).as(what).startsWith("HTTP/1.1 " + status + " ").doesNotContain(NEW, OLD, OF_B);
        if (status == 200) {
            assertThat(both.got("X-Tenant")).containsExactly("X-Tenant: " + tenantOrReason);
        } else {
            assertThat(answer).contains("\"reason\":\"" + tenantOrReason + "\"");
            assertThat(both.upstream().requests()).isEmpty();
        }
        assertThat(answer.contains("WWW-Authenticate")).isEqualTo(status == 401);
    }

    @Test
    void the_upstream_gets_a_key_only_where_the_policy_says_so_and_a_route_may_set_its_own() throws Exception {
        raw("X-Api-Key: " + NEW, "x_api_key: " + NEW, "Authorization: Key " + OLD);
        assertThat(both.got("X-Api-Key")).containsExactly("X-Api-Key: upstreams-own");
        assertThat(both.got("x_api_key")).isEmpty();
        assertThat(both.got("Authorization")).containsExactly("Authorization: Key " + OLD);
        both.upstream().forgetRequests();
        raw("X-Tenant-Id: a", "Authorization: Basic eDp5");
        assertThat(both.got("Authorization")).containsExactly("Authorization: Basic eDp5");
    }

    /** Programs behind CGI see one header under these names; only the verified one may reach them. */
    @Test
    void a_forwarded_key_is_the_only_field_of_its_name_in_any_letter_case() throws Exception {
        raw(
                "X-Partner-Key: " + NEW,
                "X_Partner_Key: " + OF_B,
                "x.partner-key: fg_nobodys-0123456789012",
                "X_Auth: Key fg_nobodys-0123456789012",
                "X_Auth: Basic eDp5");
        assertThat(both.got().lines().filter(line -> line.matches("(?i)x.partner.key:.*")))
                .containsExactly("X-Partner-Key: " + NEW);
        assertThat(both.got().lines().filter(line -> line.matches("(?i)x.auth:.*")))
                .containsExactly("X_Auth: Basic eDp5");
    }

    @Test
    void only_the_gateway_writes_the_tenant_header_for_the_upstream() throws Exception {
        raw("X-Api-Key: " + NEW, "X-Tenant: b", "X_Tenant: b", "x.tenant: b");
        assertThat(both.got().lines().filter(line -> line.matches("(?i)x.tenant:.*")))
                .containsExactly("X-Tenant: a");
    }

    @Test
    void a_request_without_identity_gets_every_challenge_that_a_client_can_meet() {
        assertThat(both.ask("/fair/x").lines("WWW-Authenticate"))
                .containsExactly(
                        "Fairgate header=\"X-Api-Key\"",
                        "Key realm=\"fairgate\"",
                        "Fairgate header=\"X-Partner-Key\"",
                        "Fairgate header=\"X-Auth\", scheme=\"Key\"");
    }

    @Test
    void every_refusal_is_in_the_audit_log_and_no_key_is_logged(CapturedOutput output) throws Exception {
        String unknownKey = "fg_nobodys-0123456789012";
        assertThat(audited(output, raw("X-Api-Key: " + unknownKey)))
                .contains(
                        "\"event\":\"identity-refused\"", "\"decision\":\"", "\"status\":401", "\"peer\":\"127.0.0.1\"")
                .contains(
                        "\"reason\":\"invalid-key\"",
                        "\"key\":\"" + ApiKeyHash.of(unknownKey).id() + "\"")
                .contains("\"route\":\"fair\"", "\"method\":\"GET\"", "\"path\":\"/fair/x\"")
                .doesNotContain("secret=");
        assertThat(audited(output, raw("X-Tenant-Id: b", "X-Api-Key: " + NEW)))
                .contains(
                        "\"reason\":\"contradiction\"",
                        "\"claimed\":\"b\"",
                        "\"key\":\"" + ApiKeyHash.of(NEW).id());
        assertThat(output.getAll())
                .doesNotContain(unknownKey, NEW, OLD, ApiKeyHash.of(NEW).hex());
        String pages =
                Answer.to(both.gateway().managementUrl("/actuator/decisions")).body()
                        + Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                                .body();
        assertThat(pages)
                .contains("reason=\"invalid-key\"")
                .doesNotContain(unknownKey, NEW, OLD, ApiKeyHash.of(NEW).id());
    }

    /** The audit log's line for the refusal in this answer. */
    private static String audited(CapturedOutput output, String answer) {
        String decision = answer.replaceFirst("(?s).*(\"decision\":\"\\w+\").*", "$1");
        RunningGateway.eventually(() -> assertThat(output.getOut()).containsPattern("\"event\":[^\n]*" + decision));
        return output.getOut()
                .lines()
                .filter(line -> line.contains("\"event\":") && line.contains(decision))
                .findFirst()
                .orElseThrow();
    }

    private static String raw(String... headers) throws Exception {
        return both.raw("/fair/x?secret=s", headers);
    }
}
