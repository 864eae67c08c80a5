package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.Quotas;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What requests take of their quotas, on which routes, and of whose. Each test has a tenant of its own. */
class CostTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private static final Queue<String> HEADS = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void start() throws IOException {
        int nobody;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = free.getLocalPort();
        }
        StringBuilder members = new StringBuilder();
        for (String tenant :
                List.of("fixed", "told", "rules", "bytes", "field", "lost", "failed", "large", "left", "free")) {
            members.append("    %s: { plan: ten }\n".formatted(tenant));
        }
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  groups:
                    corp: { quotas: [ { name: all, limit: 3, per: total } ] }
                  plans:
                    ten: { quotas: [ { name: total, limit: 10, per: total } ] }
                    trial:
                      quotas:
                        - { name: trial, limit: 1, per: total, enforce: false }
                        - { name: real, limit: 5, per: total }
                    scoped:
                      quotas: [ { name: five, limit: 5, per: total, routes: [five] } ]
                  members:
                MEMBERS    tries: { plan: trial }
                    scoped: { plan: scoped }
                    one: { plan: scoped, parent: corp }
                    two: { plan: scoped, parent: corp }
                pools:
                  pool: { permits: 4 }
                routes:
                  - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
                  - { id: five, uri: "UPSTREAM", predicates: [ "Path=/five/**" ], filters: [ "Cost=5", "FairShare=pool" ] }
                  - { id: none, uri: "UPSTREAM", predicates: [ "Path=/none/**" ], filters: [ "Cost=0" ] }
                  - { id: large, uri: "UPSTREAM", predicates: [ "Path=/large/**" ], filters: [ "Cost=11" ] }
                  - id: told
                    uri: "UPSTREAM"
                    predicates: [ "Path=/told/**" ]
                    filters: [ { name: Cost, args: { header: X-Units, trustedFrom: "127.0.0.0/8", max: 4 } } ]
                  - id: not-told
                    uri: "UPSTREAM"
                    predicates: [ "Path=/not-told/**" ]
                    filters: [ { name: Cost, args: { header: X-Units, trustedFrom: "10.0.0.0/8, ::1" } } ]
                  - id: rules
                    uri: "UPSTREAM"
                    predicates: [ "Path=/rules/**" ]
                    filters: [ { name: Cost, args: { rules: "GET /rules/reports/** = 4, * /rules/** = 2" } } ]
                  - id: bytes
                    uri: "UPSTREAM"
                    predicates: [ "Path=/bytes/**" ]
                    filters: [ { name: Cost, args: { units: 5, response: bytes, per: 1KB } }, "FairShare=pool" ]
                  - id: field
                    uri: "UPSTREAM"
                    predicates: [ "Path=/field/**" ]
                    filters: [ { name: Cost, args: { units: 5, response: "header:X-Cost", max: 6 } } ]
                  - { id: lost, uri: "http://127.0.0.1:NOBODY", predicates: [ "Path=/lost/**" ], filters: [ "Cost=7" ] }
                """.replace("UPSTREAM", upstream.url())
                .replace("NOBODY", "" + nobody)
                .replace("MEMBERS", members));
    }

    private static Answer ask(String path, String tenant, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "X-Tenant-Id";
        all[1] = tenant;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return Answer.future(gateway.url(path), all).join();
    }

    private static List<Long> remaining(String tenant, String route) {
        QuotaSets sets = new QuotaSets(gateway.context().getBean(Policy.class));
        return Objects.requireNonNull(gateway.context()
                        .getBean(Quotas.class)
                        .balances(sets.of(TenantId.of(tenant), route))
                        .block())
                .stream()
                .map(Balance::remaining)
                .toList();
    }

    /** The last byte may reach the client before the gateway has settled. */
    private static void awaitRemaining(String tenant, long units) {
        RunningGateway.eventually(() -> assertThat(remaining(tenant, "plain")).containsExactly(units));
    }

    @Test
    void a_route_may_cost_more_than_a_unit_and_another_nothing() {
        assertThat(ask("/five/x", "fixed").field("RateLimit")).isEqualTo("\"total\";r=5");
        assertThat(ask("/five/x", "fixed").status()).isEqualTo(200);
        assertThat(ask("/plain/x", "fixed").status()).isEqualTo(429);
        assertThat(ask("/none/x", "fixed").status()).isEqualTo(200);
    }

    @Test
    void a_header_tells_the_cost_when_a_trusted_peer_sends_it_and_the_upstream_never_sees_it() {
        for (String path : List.of("/told/x", "/not-told/x")) {
            upstream.on(path, exchange -> {
                HEADS.add(exchange.head());
                ScriptedUpstream.OK.answer(exchange);
            });
        }
        ask("/told/x", "told", "X-Units", "3");
        awaitRemaining("told", 7);
        ask("/not-told/x", "told", "X-Units", "3");
        awaitRemaining("told", 6);
        ask("/told/x", "told", "X-Units", "-3");
        awaitRemaining("told", 5);
        ask("/told/x", "told", "X-Units", "1000");
        awaitRemaining("told", 1);
        assertThat(HEADS).hasSize(4).allSatisfy(head -> assertThat(head).doesNotContainIgnoringCase("x-units"));
    }

    @Test
    void method_and_path_tell_the_cost() {
        ask("/rules/reports/7", "rules");
        awaitRemaining("rules", 6);
        ask("/rules/x", "rules");
        awaitRemaining("rules", 4);
    }

    @Test
    void the_bytes_of_a_response_correct_the_estimate_after_the_last_one() {
        upstream.on(
                "/bytes/x",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2049\r\n\r\n" + "x".repeat(2049)));
        ask("/bytes/x", "bytes");
        awaitRemaining("bytes", 7);
        upstream.on(
                "/bytes/large",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 20480\r\n\r\n" + "x".repeat(20480)));
        ask("/bytes/large", "bytes");
        RunningGateway.eventually(
                () -> assertThat(ask("/plain/x", "bytes").status()).isEqualTo(429));
    }

    @Test
    void a_field_of_a_response_corrects_the_estimate() {
        upstream.on("/field/x", exchange -> exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 2\r\nContent-Length: 0\r\n\r\n"));
        upstream.on(
                "/field/more", exchange -> exchange.send("HTTP/1.1 200 OK\r\nX-Cost: 99\r\nContent-Length: 0\r\n\r\n"));
        ask("/field/x", "field");
        awaitRemaining("field", 8);
        ask("/field/more", "field");
        awaitRemaining("field", 2);
    }

    @Test
    void case_64_what_was_not_sent_upstream_is_given_back() {
        for (int i = 0; i < 5; i++) {
            assertThat(ask("/lost/x", "lost").status()).isEqualTo(502);
            awaitRemaining("lost", 10);
        }
    }

    @Test
    void what_failed_upstream_stays_charged() {
        upstream.on("/five/broken", exchange -> exchange.send("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"));
        upstream.on("/bytes/reset", ScriptedUpstream.Exchange::reset);
        assertThat(ask("/bytes/reset", "failed").status()).isEqualTo(502);
        awaitRemaining("failed", 5);
        assertThat(ask("/five/broken", "failed").status()).isEqualTo(500);
        awaitRemaining("failed", 0);
    }

    @Test
    void a_client_that_leaves_in_the_middle_has_taken_what_was_estimated() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        upstream.on("/bytes/held", exchange -> {
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nx");
            begun.countDown();
            exchange.awaitClose();
        });
        var asked = Answer.future(gateway.url("/bytes/held"), "X-Tenant-Id", "left");
        begun.await();
        awaitRemaining("left", 5);
        asked.cancel(true);
        gateway.awaitInFlight("pool", 0);
        awaitRemaining("left", 5);
    }

    @Test
    void case_62_a_cost_above_the_limit_is_refused_without_a_time_to_retry() {
        Answer refused = ask("/large/x", "large");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.lines("Retry-After")).isEmpty();
    }

    @Test
    void a_quota_that_is_not_enforced_refuses_nothing_is_told_to_no_client_and_counted() throws Exception {
        for (int i = 0; i < 3; i++) {
            Answer answer = ask("/plain/x", "tries");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.field("RateLimit")).isEqualTo("\"real\";r=" + (4 - i));
        }
        assertThat(remaining("tries", "plain")).containsExactly(0L, 2L);
        assertThat(Answer.future(gateway.managementUrl("/actuator/prometheus"))
                        .join()
                        .body())
                .contains(
                        "fairgate_refusals_total{enforced=\"false\",pool=\"none\",reason=\"quota\",tenant=\"tries\"} 2.0");
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions")).body())
                .contains("\"quotas\":[\"trial\"],\"enforced\":false");
    }

    @Test
    void a_quota_of_some_routes_holds_on_those_only() {
        assertThat(ask("/five/x", "scoped").status()).isEqualTo(200);
        assertThat(ask("/five/x", "scoped").status()).isEqualTo(429);
        Answer elsewhere = ask("/plain/x", "scoped");
        assertThat(elsewhere.status()).isEqualTo(200);
        assertThat(elsewhere.lines("RateLimit")).isEmpty();
    }

    @Test
    void tenants_of_a_group_share_its_quota_which_is_called_by_both_names() {
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
