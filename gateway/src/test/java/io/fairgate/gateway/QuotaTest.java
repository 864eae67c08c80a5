package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests with quotas. Each test has its own tenant; a window of an hour does not end during a test. */
class QuotaTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private CountDownLatch end = new CountDownLatch(1);

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  plans:
                    free:
                      quotas:
                        - { name: burst, limit: 20, per: 1h }
                        - { name: daily, limit: 10000, per: day, zone: UTC }
                    two:
                      quotas: [ { name: hourly, limit: 2, per: 1h } ]
                    one:
                      quotas: [ { name: hourly, limit: 1, per: 1h } ]
                    several:
                      quotas:
                        - { name: daily, limit: 10, per: day }
                        - { name: hourly, limit: 1, per: 1h }
                    unlimited: {}
                  members:
                    free: { plan: free }
                    two: { plan: two }
                    several: { plan: several }
                    in-vain: { plan: one }
                    while-waiting: { plan: one }
                    everywhere: { plan: one }
                    upstream: { plan: two }
                    holder: { plan: unlimited }
                pools:
                  pool: { permits: 1, max-wait: 300ms }
                  patient: { permits: 1, max-wait: 20s }
                routes:
                  - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
                  - { id: patient, uri: "UPSTREAM", predicates: [ "Path=/patient/**" ], filters: [ "FairShare=patient" ] }
                  - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
                """.replace("UPSTREAM", upstream.url()));
    }

    @BeforeEach
    void hold() {
        end = new CountDownLatch(1);
        for (String path : List.of("/fair/held", "/patient/held")) {
            upstream.on(path, exchange -> {
                exchange.await(end);
                ScriptedUpstream.OK.answer(exchange);
            });
        }
    }

    private static CompletableFuture<Answer> future(String path, String tenant) {
        return Answer.future(gateway.url(path), "X-Tenant-Id", tenant);
    }

    private static Answer ask(String path, String tenant) {
        return future(path, tenant).join();
    }

    @Test
    void an_admitted_answer_has_the_quota_fields_and_the_wait() {
        Answer answer = ask("/fair/x", "free");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.lines("RateLimit-Policy"))
                .containsExactly("\"burst\";q=20;w=3600, \"daily\";q=10000;w=86400");
        assertThat(answer.lines("RateLimit"))
                .singleElement()
                .satisfies(line ->
                        assertThat(line).matches("\"burst\";r=19;t=1[78]\\d, \"daily\";r=9999;t=[1-9]\\d{0,4}"));
        assertThat(answer.lines("Server-Timing"))
                .singleElement()
                .satisfies(line -> assertThat(line).matches("fairgate;dur=\\d+\\.\\d{1,2}"));
        assertThat(answer.lines("Retry-After")).isEmpty();
    }

    @Test
    void a_tenant_without_quotas_gets_no_quota_fields() {
        Answer answer = ask("/fair/x", "holder");
        assertThat(answer.lines("RateLimit-Policy")).isEmpty();
        assertThat(answer.lines("RateLimit")).isEmpty();
    }

    @Test
    void a_quota_that_is_used_up_refuses_with_a_problem_and_a_time_to_retry() {
        assertThat(ask("/fair/x", "two").field("RateLimit")).startsWith("\"hourly\";r=1;t=");
        assertThat(ask("/fair/x", "two").field("RateLimit")).startsWith("\"hourly\";r=0;t=");
        int reached = upstream.requests().size();
        Answer refused = ask("/fair/x", "two");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(upstream.requests()).hasSize(reached);
        assertThat(refused.field("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.json())
                .containsOnlyKeys("type", "title", "status", "detail", "reason", "violated-policies", "decision")
                .containsEntry("type", "https://iana.org/assignments/http-problem-types#quota-exceeded")
                .containsEntry("title", "Too Many Requests")
                .containsEntry("status", 429)
                .containsEntry("reason", "quota")
                .containsEntry("violated-policies", List.of("hourly"));
        assertThat(refused.json("decision")).matches("[0-9a-f]{16}");
        // One unit is refilled every half hour; a tenth of that spreads the retries of requests refused together.
        assertThat(Integer.parseInt(refused.field("Retry-After"))).isBetween(1740, 1980);
        assertThat(refused.lines("RateLimit-Policy")).containsExactly("\"hourly\";q=2;w=3600");
        assertThat(refused.field("RateLimit")).matches("\"hourly\";r=0;t=(35[4-9]\\d|3600)");
    }

    @Test
    void when_one_of_several_quotas_refuses_none_is_charged() {
        assertThat(ask("/fair/x", "several").field("RateLimit")).matches("\"daily\";r=9;t=\\d+, \"hourly\";r=0;t=\\d+");
        for (int i = 0; i < 3; i++) {
            Answer refused = ask("/fair/x", "several");
            assertThat(refused.json()).containsEntry("violated-policies", List.of("hourly"));
            assertThat(refused.field("RateLimit")).matches("\"daily\";r=9;t=\\d+, \"hourly\";r=0;t=\\d+");
        }
    }

    @Test
    void a_request_that_is_refused_after_a_wait_is_not_charged() {
        CompletableFuture<Answer> held = future("/fair/held", "holder");
        gateway.awaitInFlight("pool", 1);
        assertThat(ask("/fair/x", "in-vain").status()).isEqualTo(503);
        end.countDown();
        held.join();
        Answer answer = ask("/fair/x", "in-vain");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("RateLimit")).startsWith("\"hourly\";r=0;t=");
    }

    @Test
    void a_quota_used_up_during_a_wait_refuses_the_request_and_frees_its_permit() {
        CompletableFuture<Answer> held = future("/patient/held", "holder");
        gateway.awaitInFlight("patient", 1);
        CompletableFuture<Answer> first = future("/patient/x", "while-waiting");
        CompletableFuture<Answer> second = future("/patient/x", "while-waiting");
        gateway.awaitWaiting("patient", 2);
        end.countDown();
        held.join();
        assertThat(List.of(first.join().status(), second.join().status())).containsExactlyInAnyOrder(200, 429);
        assertThat(ask("/patient/x", "holder").status()).isEqualTo(200);
    }

    @Test
    void quotas_apply_to_all_routes_also_without_a_pool() {
        Answer plain = ask("/plain/x", "everywhere");
        assertThat(plain.status()).isEqualTo(200);
        assertThat(plain.field("RateLimit")).startsWith("\"hourly\";r=0;t=");
        assertThat(plain.lines("Server-Timing")).isEmpty();
        assertThat(ask("/plain/x", "everywhere").status()).isEqualTo(429);
        assertThat(ask("/fair/x", "everywhere").status()).isEqualTo(429);
    }

    @Test
    void limits_of_the_upstream_are_passed_on() {
        upstream.on(
                "/fair/limited",
                exchange -> exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                        + "RateLimit-Policy: \"theirs\";q=5;w=60\r\nRateLimit: \"theirs\";r=4;t=50\r\n"
                        + "Server-Timing: db;dur=1\r\n\r\nok"));
        Answer answer = ask("/fair/limited", "upstream");
        assertThat(answer.lines("RateLimit-Policy")).containsExactly("\"theirs\";q=5;w=60", "\"hourly\";q=2;w=3600");
        assertThat(answer.lines("RateLimit")).hasSize(2).first().isEqualTo("\"theirs\";r=4;t=50");
        assertThat(answer.lines("Server-Timing")).hasSize(2).first().isEqualTo("db;dur=1");
    }
}
