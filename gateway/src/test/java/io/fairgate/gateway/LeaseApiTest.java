package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.lease.GatewayLeases;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The lease API over HTTP, row by row.
 */
class LeaseApiTest {

    @RegisterExtension
    static final RunningGateway GATEWAY = new RunningGateway();

    private static final LeasingTenant A = new LeasingTenant(GATEWAY, "a");
    private static final LeasingTenant B = new LeasingTenant(GATEWAY, "b");

    @BeforeAll
    static void start() {
        LeasingTenant.start(GATEWAY, """
                tenants:
                  identify:
                    - header: X-Tenant-Id
                      trusted-from: [127.0.0.0/8]
                  plans:
                    plan: {}
                  members:
                    a: { plan: plan }
                    b: { plan: plan, max-in-flight: 3, max-waiting: 1 }
                pools:
                  pool: { permits: 4, lease: { max-ttl: 1m, max-hold: 2m } }
                  other: { permits: 1 }
                routes: []
                """);
    }

    private static String id(Answer answer) {
        return answer.json("id");
    }

    private static void release(LeasingTenant client, Answer... answers) {
        for (Answer answer : answers) {
            assertThat(client.release(id(answer)).status()).isEqualTo(204);
        }
    }

    static void assertProblem(Answer answer, int status, String reason) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.field("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.json("reason")).as(answer.body()).isEqualTo(reason);
        assertThat(answer.json())
                .containsEntry("status", status)
                .containsKeys("type", "title", "detail")
                .containsKey("reason");
    }

    @Test
    void a_lease_is_acquired_read_extended_and_released() {
        Answer acquired = A.acquire("k1", "pool", "{\"permits\":2,\"ttl\":\"20s\",\"holder\":\"batch-7\"}");
        assertThat(acquired.status()).as(acquired.body()).isEqualTo(201);
        assertThat(id(acquired)).matches("[0-9a-f]{32}");
        assertThat(acquired.field("Location")).isEqualTo("/v1/leases/" + id(acquired));
        assertThat(acquired.field("Content-Type")).isEqualTo("application/json");
        assertThat(acquired.json())
                .containsEntry("state", "held")
                .containsEntry("holder", "batch-7")
                .containsEntry("pools", Map.of("pool", Map.of("permits", 2)))
                .doesNotContainKey("place");
        assertThat(acquired.number("token")).isBetween(1_700_000_000_000_000L, 1L << 53);
        assertThat(acquired.number("expiresInMillis")).isBetween(1L, 20_000L);
        assertThat(acquired.json("expiresAt")).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z");
        assertThat(GATEWAY.pool("pool").inFlight()).isEqualTo(2);

        assertThat(A.get(id(acquired)).json())
                .containsEntry("token", acquired.json().get("token"));
        Answer extended = A.extend(id(acquired), "50s");
        assertThat(extended.status()).isEqualTo(200);
        assertThat(extended.number("expiresInMillis")).isBetween(20_001L, 50_000L);
        assertThat(extended.number("heldMillis")).isNotNegative();

        release(A, acquired, acquired);
        assertThat(GATEWAY.pool("pool").inFlight()).isZero();
        assertProblem(A.get(id(acquired)), 404, "lease-expired");
        assertProblem(A.extend(id(acquired), "5s"), 404, "lease-expired");
    }

    @Test
    void a_waiting_lease_keeps_its_place_over_repeated_calls() {
        Answer all = A.acquire("all", "pool", "{\"permits\":4}");
        Answer first = A.acquire("first", "pool", "{\"permits\":2}");
        Answer second = A.acquire("second", "pool", "{}");
        assertThat(first.status()).as(first.body()).isEqualTo(202);
        assertThat(first.field("Location")).isEqualTo("/v1/leases/" + id(first));
        assertThat(first.json())
                .containsEntry("state", "waiting")
                .containsEntry("place", 1)
                .doesNotContainKeys("token", "heldMillis");
        assertThat(second.json()).containsEntry("place", 2);
        assertThat(A.acquire("first", "pool", "{\"permits\":2}").json()).containsEntry("place", 1);
        assertThat(GATEWAY.pool("pool").waiting()).isEqualTo(2);

        CompletableFuture<Answer> patient = A.acquiring("first", "pool", "{\"permits\":2,\"maxWait\":\"30s\"}");
        release(A, all);
        Answer held = patient.join();
        assertThat(held.status()).isEqualTo(201);
        assertThat(id(held)).isEqualTo(id(first));
        assertThat(A.acquire("second", "pool", "{}").status()).isEqualTo(201);
        assertThat(A.get(id(second)).number("token"))
                .isGreaterThan(all.number("token"))
                .isNotEqualTo(held.json().get("token"));
        release(A, first, second);
    }

    @Test
    void a_call_is_answered_after_its_max_wait() {
        Answer all = A.acquire("all2", "pool", "{\"permits\":4}");
        Answer waited = A.acquire("w", "pool", "{\"maxWait\":\"200ms\"}");
        assertThat(waited.status()).isEqualTo(202);
        release(A, all, waited);
    }

    @Test
    void a_repeated_call_gets_the_current_state_of_the_lease() {
        Answer one = A.acquire("again", "other", "{\"holder\":\"x\"}");
        Answer two = A.acquire("again", "other", "{\"permits\":1,\"ttl\":\"1s\"}");
        assertThat(two.status()).isEqualTo(201);
        assertThat(two.json())
                .containsEntry("id", id(one))
                .containsEntry("token", one.json().get("token"))
                .containsEntry("holder", "x");
        assertProblem(A.acquire("again", "pool", "{}"), 422, "idempotency-key-reused");
        assertProblem(A.acquire("again", "other", "{\"permits\":2}"), 422, "idempotency-key-reused");
        assertProblem(A.acquireAll("again", "{\"pools\":{\"other\":1,\"pool\":1}}"), 422, "idempotency-key-reused");
        release(A, one);
        assertProblem(A.acquire("again", "other", "{}"), 409, "lease-ended");
    }

    @Test
    void concurrent_calls_with_one_key_acquire_one_lease() {
        List<CompletableFuture<Answer>> calls = new java.util.ArrayList<>();
        for (int i = 0; i < 20; i++) {
            calls.add(A.acquiring("at-once", "pool", "{}"));
        }
        assertThat(calls)
                .extracting(call -> call.join().status() + " " + id(call.join()))
                .containsOnly("201 " + id(calls.get(0).join()));
        assertThat(GATEWAY.pool("pool").inFlight()).isOne();
        release(A, calls.get(0).join());
    }

    @Test
    void a_lease_that_can_never_be_granted_is_refused_at_once() {
        Answer tooMany = A.acquire("n1", "pool", "{\"permits\":5}");
        assertProblem(tooMany, 409, "never-fits");
        assertThat(tooMany.json("detail")).contains("5 permits of the pool \"pool\"", "the pool has 4");
        assertProblem(B.acquire("n2", "pool", "{\"permits\":4}"), 409, "never-fits");
        Answer busy = A.acquire("busy", "pool", "{\"permits\":4}");
        assertProblem(
                A.acquireAll("n3", "{\"pools\":{\"pool\":1,\"other\":2},\"maxWait\":\"30s\"}"), 409, "never-fits");
        release(A, busy);
        Answer unknown = A.acquire("n4", "nowhere", "{}");
        assertProblem(unknown, 404, "unknown-pool");
        assertThat(unknown.json("detail")).contains("no pool \"nowhere\"");
        assertThat(A.acquire("n6", "n".repeat(65), "{}").json("detail")).contains("no pool with this name");
        assertProblem(A.acquireAll("n5", "{\"pools\":{\"pool\":1,\"nowhere\":1}}"), 404, "unknown-pool");
        assertThat(A.acquire("n1", "pool", "{}").status())
                .as("nothing is left of a call for too many permits")
                .isEqualTo(201);
        release(A, A.acquire("n1", "pool", "{}"));
    }

    @Test
    void several_pools_are_leased_together_or_not_at_all() {
        Answer other = B.acquire("o", "other", "{}");
        Answer both = A.acquireAll("both", "{\"pools\":{\"pool\":2,\"other\":1}}");
        assertThat(both.status()).as(both.body()).isEqualTo(202);
        assertThat(GATEWAY.pool("pool").inFlight()).isZero();
        release(B, other);
        Answer held = A.acquireAll("both", "{\"pools\":{\"other\":1,\"pool\":2},\"maxWait\":\"30s\"}");
        assertThat(held.status()).isEqualTo(201);
        assertThat(held.json())
                .containsEntry("pools", Map.of("pool", Map.of("permits", 2), "other", Map.of("permits", 1)));
        release(A, held);
    }

    @Test
    void a_lease_of_another_tenant_is_reported_as_not_found() {
        Answer mine = A.acquire("mine", "pool", "{}");
        String unknown = "0".repeat(32);
        assertThat(B.get(id(mine)).status()).isEqualTo(404);
        assertThat(B.get(id(mine)).body()).isEqualTo(B.get(unknown).body());
        assertThat(B.extend(id(mine), "1s").body())
                .isEqualTo(B.extend(unknown, "1s").body());
        assertThat(B.release(id(mine)).status()).isEqualTo(204);
        assertThat(A.get(id(mine)).status()).isEqualTo(200);
        Answer same = B.acquire("mine", "pool", "{}");
        assertThat(id(same)).isNotEqualTo(id(mine));
        release(A, mine);
        release(B, same);
    }

    @Test
    void a_lease_expires_and_lasts_no_longer_than_its_pool_allows() {
        Answer capped = A.acquire("cap", "pool", "{\"ttl\":\"1h\"}");
        assertThat(capped.number("expiresInMillis")).isBetween(30_001L, 60_000L);
        assertThat(A.extend(id(capped), "9000000000000000000d").number("expiresInMillis"))
                .isBetween(30_001L, 60_000L);
        A.extend(id(capped), "1ms");
        RunningGateway.eventually(
                () -> assertThat(GATEWAY.pool("pool").inFlight()).isZero());
        assertProblem(A.extend(id(capped), "1m"), 404, "lease-expired");
        assertProblem(A.acquire("cap", "pool", "{}"), 409, "lease-ended");
    }

    @Test
    void a_full_queue_refuses_a_lease_like_a_request_and_its_call_may_be_repeated() {
        Answer all = A.acquire("full", "pool", "{\"permits\":4}");
        Answer waits = B.acquire("b1", "pool", "{}");
        Answer refused = B.acquire("b2", "pool", "{\"maxWait\":\"5s\"}");
        assertProblem(refused, 429, "tenant-queue-full");
        assertThat(refused.json()).containsKey("decision");
        assertThat(refused.field("Retry-After")).isNotEmpty();
        assertProblem(B.acquire("b2", "pool", "{}"), 429, "tenant-queue-full");
        release(A, all);
        Answer served = B.acquire("b2", "pool", "{}");
        assertThat(served.status()).as(served.body()).isEqualTo(201);
        release(B, waits, served);
    }

    @Test
    void a_pool_shows_its_totals_and_the_callers_own_numbers() {
        Answer four = A.acquire("p", "pool", "{\"permits\":4}");
        Answer waits = B.acquire("q", "pool", "{}");
        Answer pool = B.call("GET", "/v1/pools/pool", "");
        assertThat(pool.status()).isEqualTo(200);
        assertThat(pool.json())
                .containsEntry("pool", "pool")
                .containsEntry("permits", 4)
                .containsEntry("inFlight", 4)
                .containsEntry("waiting", 1)
                .containsEntry("own", Map.of("inFlight", 0, "waiting", 1, "share", 1.0));
        assertThat(A.call("GET", "/v1/pools", "").body())
                .matches("\\{\"pools\":\\[\\{\"pool\":\"pool\".*\\{\"pool\":\"other\".*]}");
        assertProblem(A.call("GET", "/v1/pools/nowhere", ""), 404, "unknown-pool");
        release(A, four);
        release(B, waits);
    }

    @Test
    void unidentified_calls_get_the_same_refusals_as_requests() {
        Answer unidentified = new LeasingTenant(GATEWAY, "").acquire("x", "pool", "{}");
        assertProblem(unidentified, 401, "missing");
        assertThat(unidentified.json()).containsKey("decision");
        assertThat(unidentified.field("WWW-Authenticate")).isNotEmpty();
        assertProblem(new LeasingTenant(GATEWAY, "stranger").call("GET", "/v1/pools", ""), 403, "unknown-tenant");
        assertProblem(new LeasingTenant(GATEWAY, "a b").release("x"), 400, "malformed");
    }

    @Test
    void the_description_contains_every_route() {
        Answer described = new LeasingTenant(GATEWAY, "").call("GET", "/v1/openapi.json", "");
        assertThat(described.status()).isEqualTo(200);
        assertThat(described.json()).containsEntry("openapi", "3.1.0");
        assertThat(LeaseDescription.operations()).isEqualTo(GatewayLeases.routes(GATEWAY.context()));
    }

    @Test
    void the_ports_have_nothing_in_common() {
        String lease = "http://127.0.0.1:" + LeasingTenant.port(GATEWAY);
        assertProblem(Answer.to(lease + "/actuator/health", "X-Tenant-Id", "a"), 404, "not-found");
        assertProblem(Answer.to(lease + "/v1/pools/", "X-Tenant-Id", "a"), 404, "not-found");
        assertThat(Answer.to(GATEWAY.url("/v1/pools"), "X-Tenant-Id", "a").status())
                .isEqualTo(404);
        assertThat(Answer.to(GATEWAY.managementUrl("/v1/pools"), "X-Tenant-Id", "a")
                        .status())
                .isEqualTo(404);
    }
}
