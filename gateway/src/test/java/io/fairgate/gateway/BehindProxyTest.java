package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/** Behind a trusted proxy, whatever depends on an address uses that of the client. Every client here is such a proxy. */
@ExtendWith(OutputCaptureExtension.class)
class BehindProxyTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                """
                tenants:
                  trusted-proxies: [127.0.0.0/8, 10.0.0.0/8]
                  identify:
                    - { header: X-Tenant-Id }
                    - { header: X-Office-Tenant, trusted-from: [192.0.2.0/24] }
                  plans:
                    plan: { quotas: [ { name: total, limit: 1000, per: total } ] }
                  members: { a: { plan: plan } }
                pools:
                  pool: { permits: 4 }
                routes:
                  - id: cost
                    uri: http://UPSTREAM
                    predicates: [ Path=/cost/** ]
                    filters:
                      - FairShare=pool
                      - { name: Cost, args: { header: X-Units, trusted-from: 192.0.2.0/24 } }
                  - id: fair
                    uri: http://UPSTREAM
                    predicates: [ Path=/fair/** ]
                    filters: [ FairShare=pool ]
                """,
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate=info",
                LeasingTenant.ON,
                "--fairgate.leases.port=0");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            named by the proxy               | X-Tenant-Id: a~X-Forwarded-For: 198.51.100.1       | 200
            named by the proxy for itself    | X-Tenant-Id: a                                     | 200
            named by a client of the network | X-Office-Tenant: a~X-Forwarded-For: 192.0.2.7      | 200
            over two proxies                 | X-Office-Tenant: a~X-Forwarded-For: 192.0.2.7, 10.1.1.1 | 200
            named by another client          | X-Office-Tenant: a~X-Forwarded-For: 198.51.100.1   | 403
            an address before its own        | X-Office-Tenant: a~X-Forwarded-For: 192.0.2.7, 198.51.100.1 | 403
            an address in a line of its own  | X-Office-Tenant: a~X-Forwarded-For: 192.0.2.7~X-Forwarded-For: 198.51.100.1 | 403
            an unknown client                | X-Office-Tenant: a~X-Forwarded-For: 192.0.2.7, unknown | 403
            the proxy itself                 | X-Office-Tenant: a                                 | 403
            in a header that is not believed | X-Office-Tenant: a~Forwarded: for=192.0.2.7        | 403
            """)
    void a_network_of_clients_is_compared_with_the_address_of_the_client(String name, String fields, int status)
            throws Exception {
        assertThat(both.raw("/fair/x", fields.split("~"))).as(name).startsWith("HTTP/1.1 " + status + " ");
    }

    /** To this gateway, no client here is a proxy. */
    @RegisterExtension
    static final GatewayAndUpstream stranger = new GatewayAndUpstream();

    @BeforeAll
    static void startWithOtherProxies() {
        stranger.start("""
                tenants:
                  trusted-proxies: [10.0.0.0/8]
                  identify:
                    - { header: X-Tenant-Id }
                  plans: { plan: {} }
                  members: { a: { plan: plan } }
                """ + GatewayAndUpstream.FAIR_ROUTE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Other: 1", "X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 10.0.0.1, 10.0.0.2"})
    void a_header_for_proxies_is_refused_from_others(String field) throws Exception {
        assertThat(stranger.raw("/fair/x", "X-Tenant-Id: a", field))
                .startsWith("HTTP/1.1 403 ")
                .contains("\"reason\":\"untrusted-peer\"");
        assertThat(stranger.upstream().requests()).isEmpty();
    }

    @Test
    void a_cost_counts_from_a_client_of_the_network_only() {
        String[] none = {"X-Tenant-Id", "a"};
        long before = left(both.ask("/cost/x", none));
        long trusted = left(both.ask("/cost/x", "X-Tenant-Id", "a", "X-Units", "7", "X-Forwarded-For", "192.0.2.7"));
        assertThat(before - trusted).isEqualTo(7);
        long other = left(both.ask("/cost/x", "X-Tenant-Id", "a", "X-Units", "7", "X-Forwarded-For", "198.51.100.1"));
        assertThat(trusted - other).isEqualTo(1);
        assertThat(other - left(both.ask("/cost/x", "X-Tenant-Id", "a", "X-Units", "7")))
                .isEqualTo(1);
    }

    private static long left(Answer answer) {
        String field = answer.field("RateLimit");
        return Long.parseLong(field.substring(field.indexOf("r=") + 2).replaceAll("\\D.*", ""));
    }

    @Test
    void the_logs_name_the_client_and_the_proxy(CapturedOutput output) throws Exception {
        String client = "2001:db8::55";
        String refused = both.raw("/fair/x", "X-Tenant-Id: nobody", "X-Forwarded-For: " + client);
        both.raw("/fair/served", "X-Tenant-Id: a", "X-Forwarded-For: " + client);
        String addresses = "\"client\":\"2001:db8::55\",\"peer\":\"127.0.0.1\"";
        RunningGateway.eventually(() -> assertThat(output.getOut().lines())
                .anyMatch(line -> line.contains("identity-refused") && line.contains(addresses))
                .anyMatch(line -> line.contains("/fair/served") && line.contains(addresses))
                .anyMatch(line -> line.contains("\"end\":\"refused\"") && line.contains(addresses)));
        String decision = refused.replaceAll("(?s).*\"decision\":\"([0-9a-f]+)\".*", "$1");
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/decisions/" + decision))
                        .json())
                .containsEntry("client", client)
                .containsEntry("peer", "127.0.0.1");
    }

    @Test
    void a_request_that_is_refused_before_its_route_is_found_is_logged_with_its_client(CapturedOutput output)
            throws Exception {
        both.raw("/fair/two-hosts", "Host: other", "X-Forwarded-For: 198.51.100.9");
        both.raw("/nowhere", "X-Forwarded-For: 198.51.100.9");
        both.raw("/fair//x", "X-Forwarded-For: 198.51.100.9");
        RunningGateway.eventually(() -> assertThat(output.getOut().lines())
                .filteredOn(line -> line.contains("\"client\":\"198.51.100.9\",\"peer\":\"127.0.0.1\""))
                .extracting(line -> line.replaceAll(".*\"path\":\"([^\"]*)\".*", "$1"))
                .contains("/fair/two-hosts", "/nowhere", "/fair//x"));
    }

    @Test
    void it_is_the_same_over_http2() {
        String body = HttpClient.newConnection()
                .protocol(HttpProtocol.H2C)
                .headers(headers -> headers.add("X-Tenant-Id", "a")
                        .add("X-Forwarded-For", "198.51.100.1, 192.0.2.7")
                        .add("X-Forwarded-Proto", "https")
                        .add("X-Forwarded-Host", "evil.test"))
                .get()
                .uri(both.gateway().url("/fair/x"))
                .responseContent()
                .aggregate()
                .asString()
                .block();
        assertThat(body).isEqualTo("ok");
        assertThat(both.got("X-Forwarded-For")).containsExactly("X-Forwarded-For: 192.0.2.7, 127.0.0.1");
        assertThat(both.got("X-Forwarded-Proto")).containsExactly("X-Forwarded-Proto: https");
        assertThat(both.got("X-Forwarded-Host"))
                .containsExactly("X-Forwarded-Host: 127.0.0.1:" + both.gateway().port());
    }

    @Test
    void the_lease_port_knows_the_client_as_well(CapturedOutput output) {
        LeasingTenant tenant = new LeasingTenant(both.gateway(), "a");
        LeasingTenant nobody = new LeasingTenant(both.gateway(), "");
        String[] office = {"X-Office-Tenant", "a", "X-Forwarded-For", "192.0.2.7", "Idempotency-Key", "k"};
        String id = nobody.future("POST", "/v1/pools/pool/leases", "{}", office)
                .join()
                .json("id");
        tenant.release(id);
        tenant.future(
                        "POST",
                        "/v1/pools/pool/leases",
                        "{\"permits\":5}",
                        "X-Forwarded-For",
                        "192.0.2.8",
                        "Idempotency-Key",
                        "l")
                .join();
        RunningGateway.eventually(() -> assertThat(output.getOut().lines())
                .anyMatch(line -> line.contains("lease-refused")
                        && line.contains("\"client\":\"192.0.2.8\",\"peer\":\"127.0.0.1\"")));
    }
}
