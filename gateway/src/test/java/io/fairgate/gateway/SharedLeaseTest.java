package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The lease port of two gateways, whose leases are in a real Redis. */
class SharedLeaseTest {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              plans:
                two: { quotas: [ { name: prepaid, limit: 2, per: total } ] }
                unlimited: {}
              members:
                a: { plan: unlimited }
                b: { plan: unlimited }
                poor: { plan: two }
            pools:
              pool: { permits: 4 }
            routes: []
            """;

    private static final int MOST_TRIES = 100;

    @RegisterExtension
    final RunningGateway one = new RunningGateway();

    @RegisterExtension
    final RunningGateway two = new RunningGateway();

    private RedisProcess redis;

    @BeforeEach
    void start() throws IOException {
        redis = new RedisProcess();
        for (RunningGateway each : List.of(one, two)) {
            LeasingTenant.start(
                    each,
                    POLICY,
                    "--fairgate.backend=redis",
                    "--spring.data.redis.url=redis://127.0.0.1:" + redis.port(),
                    "--fairgate.leases.throttle.enabled=true");
            LeasingTenant tenant = new LeasingTenant(each, "a");
            eventually(() -> {
                Answer answer = tenant.acquire("warm", "pool", "{\"maxWait\":\"5s\"}");
                assertThat(answer.status()).as(answer.body()).isEqualTo(201);
            });
        }
        new LeasingTenant(one, "a")
                .release(at(two, "a").acquire("warm", "pool", "{}").json("id"));
    }

    /** What is released at one gateway is in flight at the other until Redis has told it. */
    @AfterEach
    void stop() {
        one.awaitNothingLeft();
        two.awaitNothingLeft();
        redis.close();
    }

    private static LeasingTenant at(RunningGateway gateway, String tenant) {
        return new LeasingTenant(gateway, tenant);
    }

    private static Answer held(Answer answer) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(201);
        return answer;
    }

    /** Holds all permits of the pool. On a busy machine, a gateway may lose its slice for a while: then it is asked again. */
    private static Answer all(RunningGateway gateway, String key) {
        AtomicReference<Answer> all = new AtomicReference<>();
        eventually(() -> all.set(
                held(at(gateway, "a").acquire(key, "pool", "{\"permits\":4,\"ttl\":\"5m\",\"maxWait\":\"20s\"}"))));
        return Objects.requireNonNull(all.get());
    }

    /** On a busy machine, a gateway may not reach Redis for a while. Then the call is repeated, which changes nothing more. */
    private static Answer told(Supplier<Answer> call) {
        AtomicReference<Answer> answer = new AtomicReference<>();
        eventually(() -> {
            Answer got = call.get();
            assertThat(got.body()).doesNotContain("\"backend-lost\"");
            answer.set(got);
        });
        return Objects.requireNonNull(answer.get());
    }

    /** The same for a call that waits: the key is asked for again, which stands for one lease. */
    private static CompletableFuture<Answer> asked(LeasingTenant tenant, String key, String body, int triesLeft) {
        return tenant.acquiring(key, "pool", body)
                .thenCompose(answer -> answer.body().contains("\"backend-lost\"") && triesLeft > 0
                        ? later().thenCompose(nothing -> asked(tenant, key, body, triesLeft - 1))
                        : CompletableFuture.completedFuture(answer));
    }

    private static CompletableFuture<Void> later() {
        return CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS));
    }

    private static void released(LeasingTenant tenant, Answer lease) {
        eventually(() -> {
            Answer answer = tenant.release(lease.json("id"));
            assertThat(answer.status()).as(answer.body()).isEqualTo(204);
        });
    }

    @Test
    void any_gateway_shows_extends_and_releases_a_lease_and_repeats_the_answer() {
        String wanted = "{\"permits\":2,\"holder\":\"nightly\",\"maxWait\":\"20s\"}";
        LeasingTenant first = at(one, "b");
        LeasingTenant second = at(two, "b");
        Answer lease = held(told(() -> first.acquire("job", "pool", wanted)));
        String id = lease.json("id");
        assertThat(held(told(() -> second.acquire("job", "pool", "{\"permits\":2}")))
                        .json())
                .containsEntry("id", id)
                .containsEntry("token", lease.json().get("token"))
                .containsEntry("holder", "nightly");
        LeaseApiTest.assertProblem(
                told(() -> second.acquire("job", "pool", "{\"permits\":1}")), 422, "idempotency-key-reused");
        assertThat(told(() -> second.extend(id, "5m")).status()).isEqualTo(200);
        assertThat(told(() -> first.get(id)).number("expiresInMillis")).isBetween(30_001L, 300_000L);
        LeaseApiTest.assertProblem(told(() -> at(two, "a").get(id)), 404, "lease-expired");
        assertThat(told(() -> at(two, "a").release(id)).status()).isEqualTo(204);
        assertThat(told(() -> second.release(id)).status()).isEqualTo(204);
        LeaseApiTest.assertProblem(told(() -> first.get(id)), 404, "lease-expired");
        for (LeasingTenant each : List.of(first, second)) {
            LeaseApiTest.assertProblem(told(() -> each.acquire("job", "pool", "{\"permits\":2}")), 409, "lease-ended");
        }
    }

    @Tag("long")
    @Test
    void a_place_in_the_queue_is_kept_at_any_gateway_and_after_the_end_of_its_own() {
        Answer all = all(one, "all");
        assertThat(at(one, "b").acquire("waits", "pool", "{\"ttl\":\"1m\"}").status())
                .isEqualTo(202);
        CompletableFuture<Answer> waiting =
                at(two, "b").acquiring("waits", "pool", "{\"maxWait\":\"25s\",\"ttl\":\"1m\"}");
        CompletableFuture<Answer> refused =
                at(one, "b").acquiring("waits", "pool", "{\"maxWait\":\"25s\",\"ttl\":\"1m\"}");
        eventually(() -> assertThat(at(two, "b")
                        .get(at(two, "b")
                                .acquire("waits", "pool", "{\"ttl\":\"1m\"}")
                                .json("id"))
                        .json())
                .containsEntry("place", 1));
        one.close();
        LeaseApiTest.assertProblem(refused.join(), 503, "draining");
        assertThat(waiting).isNotDone();
        assertThat(at(two, "a").get(all.json("id")).json()).containsEntry("state", "held");
        at(two, "a").release(all.json("id"));
        Answer granted = held(waiting.join());
        assertThat(at(two, "b").release(granted.json("id")).status()).isEqualTo(204);
    }

    @Test
    void a_lease_is_charged_once_whichever_gateway_is_asked() {
        Answer all = all(two, "all");
        String whole = "{\"maxWait\":\"20s\",\"permits\":4}";
        CompletableFuture<Answer> first = asked(at(one, "poor"), "1", whole, MOST_TRIES);
        CompletableFuture<Answer> same = asked(at(two, "poor"), "1", whole, MOST_TRIES);
        released(at(one, "a"), all);
        Answer lease = held(first.join());
        assertThat(held(same.join()).json("id")).isEqualTo(lease.json("id"));
        released(at(two, "poor"), lease);

        Answer again = all(one, "again");
        String half = "{\"maxWait\":\"20s\",\"permits\":2}";
        CompletableFuture<Answer> second = asked(at(one, "poor"), "2", half, MOST_TRIES);
        CompletableFuture<Answer> third = asked(at(two, "poor"), "3", half, MOST_TRIES);
        released(at(two, "a"), again);
        List<Answer> both = List.of(second.join(), third.join());
        assertThat(both).as("the quota is 2").extracting(Answer::status).containsExactlyInAnyOrder(201, 429);
        both.stream().filter(each -> each.status() == 201).forEach(each -> released(at(one, "poor"), each));
        LeaseApiTest.assertProblem(asked(at(two, "poor"), "4", "{}", MOST_TRIES).join(), 429, "quota");
    }

    @Test
    void a_peer_of_throttle_may_ask_any_gateway() {
        String peer = at(one, "b")
                .future("POST", "/new_peer", "{\"expires_in\":\"1m\"}")
                .join()
                .body();
        assertThat(at(two, "b")
                        .future("PUT", "/peers/" + peer + "/pool?block_for=10s", "2")
                        .join()
                        .status())
                .isEqualTo(200);
        assertThat(at(one, "b")
                        .future("GET", "/peers/" + peer + "/is_acquired", "")
                        .join()
                        .body())
                .isEqualTo("true");
        assertThat(at(one, "b")
                        .future("PUT", "/peers/" + peer + "/pool", "2")
                        .join()
                        .status())
                .isEqualTo(200);
        assertThat(at(one, "a")
                        .future("GET", "/peers/" + peer + "/is_acquired", "")
                        .join()
                        .status())
                .as("of another tenant")
                .isEqualTo(400);
        assertThat(at(two, "b").future("GET", "/peers/", "").join().body()).contains(peer);
        assertThat(at(two, "b").future("DELETE", "/peers/" + peer, "").join().body())
                .contains("Peer released");
        assertThat(at(one, "b").future("DELETE", "/peers/" + peer, "").join().body())
                .contains("Peer not found");
    }

    @Test
    void without_redis_calls_are_refused_and_afterwards_a_lease_is_still_held() throws IOException {
        Answer all = all(one, "all");
        redis.close();
        eventually(() -> LeaseApiTest.assertProblem(at(two, "a").get(all.json("id")), 503, "backend-lost"));
        LeaseApiTest.assertProblem(at(one, "b").acquire("new", "pool", "{}"), 503, "backend-lost");
        redis = new RedisProcess(redis.port());
        eventually(() -> assertThat(at(two, "a").get(all.json("id")).json()).containsEntry("state", "held"));
        assertThat(held(told(() -> at(two, "a").acquire("all", "pool", "{\"permits\":4}")))
                        .json("id"))
                .as("the same key has the same lease")
                .isEqualTo(all.json("id"));
        assertThat(told(() -> at(one, "a").release(all.json("id"))).status()).isEqualTo(204);
        Answer next = held(told(() -> at(two, "b").acquire("next", "pool", "{\"permits\":4,\"maxWait\":\"20s\"}")));
        at(one, "b").release(next.json("id"));
    }
}
