package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers to requests without a permit: 429 for a limit of the tenant itself, 503 for the pool. */
class PermitRefusalTest {

    private static final String QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded";
    private static final String REDUCED_CAPACITY =
            "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private final List<CompletableFuture<Answer>> held = new ArrayList<>();
    private CountDownLatch end = new CountDownLatch(1);

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  plans:
                    plain: {}
                  members:
                    noisy: { plan: plain }
                    quiet: { plan: plain }
                    capped: { plan: plain, max-in-flight: 1 }
                    narrow: { plan: plain, max-waiting: 1 }
                    owner: { plan: plain, reserved: 1 }
                pools:
                  pool: { permits: 3, max-waiting: 2, max-wait: 1500ms }
                routes:
                  - { id: single, uri: "UPSTREAM", predicates: [ "Path=/single/**" ], filters: [ "FairShare=pool" ] }
                  - { id: double, uri: "UPSTREAM", predicates: [ "Path=/double/**" ], filters: [ "FairShare=pool,2" ] }
                  - { id: all, uri: "UPSTREAM", predicates: [ "Path=/all/**" ], filters: [ "FairShare=pool,3" ] }
                """.replace("UPSTREAM", upstream.url()));
    }

    @BeforeEach
    void hold() {
        end = new CountDownLatch(1);
        upstream.on("/single/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
    }

    @AfterEach
    void letGo() {
        end.countDown();
        held.forEach(CompletableFuture::join);
    }

    private static CompletableFuture<Answer> future(String path, String tenant) {
        return Answer.future(gateway.url(path), "X-Tenant-Id", tenant);
    }

    private static Answer ask(String path, String tenant) {
        return future(path, tenant).join();
    }

    /** One of the three permits stays reserved, so two requests of other tenants fill the pool. */
    private void holdPermits(String tenant, int count) {
        int before = gateway.pool("pool").inFlight();
        for (int i = 0; i < count; i++) {
            held.add(future("/single/held", tenant));
        }
        gateway.awaitInFlight("pool", before + count);
    }

    private static void assertTenantsOwn(Answer answer, String reason) {
        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.json()).containsEntry("type", QUOTA_EXCEEDED).containsEntry("reason", reason);
        assertTellsNothingOfOthers(answer);
    }

    private static void assertPools(Answer answer, String reason) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json()).containsEntry("type", REDUCED_CAPACITY).containsEntry("reason", reason);
        assertThat(answer.lines("RateLimit-Policy")).isEmpty();
        assertThat(answer.lines("RateLimit")).isEmpty();
        assertTellsNothingOfOthers(answer);
    }

    private static void assertTellsNothingOfOthers(Answer answer) {
        assertThat(answer.field("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.json())
                .containsOnlyKeys("type", "title", "status", "detail", "reason", "violated-policies", "decision")
                .containsEntry("violated-policies", List.of("pool"));
        assertThat(answer.json("detail")).doesNotContainPattern("\\d");
        assertThat(answer.body() + answer.headers()).doesNotContain("noisy", "quiet", "capped", "narrow", "owner");
    }

    @Test
    void a_tenant_at_its_own_cap_is_refused_after_the_wait() {
        holdPermits("capped", 1);
        Answer refused = ask("/single/x", "capped");
        assertTenantsOwn(refused, "tenant-cap");
        assertThat(refused.field("Retry-After")).isIn("2", "3");
        assertThat(refused.field("RateLimit-Policy")).isEqualTo("\"pool\";q=1;qu=\"concurrent-requests\"");
        assertThat(refused.field("RateLimit")).isEqualTo("\"pool\";r=0");
    }

    @Test
    void a_tenant_whose_own_queue_is_full_is_refused_at_once() {
        holdPermits("noisy", 2);
        held.add(future("/single/x", "narrow"));
        gateway.awaitWaiting("pool", 1);
        Answer refused = ask("/single/x", "narrow");
        assertTenantsOwn(refused, "tenant-queue-full");
        assertThat(refused.field("Retry-After")).isIn("2", "3");
        assertThat(refused.field("RateLimit-Policy")).isEqualTo("\"pool\";q=1;qu=\"concurrent-requests\"");
        assertThat(refused.field("RateLimit")).isEqualTo("\"pool\";r=0");
    }

    @Test
    void a_request_beyond_the_tenants_cap_is_refused_without_retry_after() {
        Answer refused = ask("/double/x", "capped");
        assertTenantsOwn(refused, "too-large");
        assertThat(refused.lines("Retry-After")).isEmpty();
        assertThat(refused.field("RateLimit-Policy")).isEqualTo("\"pool\";q=1;qu=\"concurrent-requests\"");
        assertThat(ask("/double/x", "quiet").status()).isEqualTo(200);
    }

    @Test
    void a_request_beyond_the_reservations_of_others_does_not_disclose_them() {
        Answer refused = ask("/all/x", "quiet");
        assertTenantsOwn(refused, "too-large");
        assertThat(refused.lines("Retry-After")).isEmpty();
        assertThat(refused.lines("RateLimit-Policy"))
                .as("the tenant has no limit")
                .isEmpty();
        assertThat(refused.lines("RateLimit")).isEmpty();
        assertThat(ask("/all/x", "owner").status()).isEqualTo(200);
    }

    @Test
    void a_request_that_reaches_max_wait_is_503() {
        holdPermits("noisy", 2);
        Answer refused = ask("/single/x", "quiet");
        assertPools(refused, "max-wait");
        assertThat(refused.field("Retry-After")).isIn("2", "3");
    }

    @Test
    void a_full_queue_refuses_the_newest_request_of_the_longest_queue() {
        holdPermits("noisy", 2);
        CompletableFuture<Answer> first = future("/single/first", "noisy");
        gateway.awaitWaiting("pool", 1);
        CompletableFuture<Answer> second = future("/single/second", "noisy");
        gateway.awaitWaiting("pool", 2);
        CompletableFuture<Answer> quiet = future("/single/x", "quiet");
        Answer refused = second.join();
        assertPools(refused, "pool-queue-full");
        assertThat(refused.field("Retry-After")).isIn("2", "3");
        end.countDown();
        assertThat(quiet.join().status()).isEqualTo(200);
        assertThat(first.join().status()).isEqualTo(200);
    }
}
