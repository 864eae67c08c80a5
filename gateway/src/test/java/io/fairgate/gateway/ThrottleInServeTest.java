package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.lease.GatewayLeases;
import io.fairgate.lease.Leases;
import io.fairgate.policy.ApiKeyHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Throttle's clients at a gateway have the same tenants, pools, bounds and quotas as requests.
 */
@ExtendWith(OutputCaptureExtension.class)
class ThrottleInServeTest {

    private static final String KEY_OF_A = "fg_key-of-a-0123456789";
    private static final String KEY_OF_B = "fg_key-of-b-0123456789";
    private static final String QUOTA_USED_UP = "The quota of this tenant is used up.";

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                - api-key: { header: X-Api-Key }
              plans:
                plan: {}
                capped: { max-in-flight: 2 }
                counted: { quotas: [ { name: hourly, limit: 2, per: 1h } ] }
              members:
                a: { plan: plan, api-keys: [ "%s" ] }
                b: { plan: capped, api-keys: [ "%s" ] }
                counted: { plan: counted }
                batch: { plan: plan }
            pools:
              pool: { permits: 4, max-waiting: 8, lease: { max-ttl: 1m, max-hold: 2m } }
              single: { permits: 1 }
            routes:
              - id: fair
                uri: http://127.0.0.1:9
                predicates: [ "Path=/fair/**" ]
                filters: [ "FairShare=pool" ]
            """.formatted(
                    ApiKeyHash.of(KEY_OF_A).text(), ApiKeyHash.of(KEY_OF_B).text());

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private boolean isOpen;

    private void start(String policy, String... options) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        all.add("--fairgate.leases.throttle.enabled=true");
        if (all.stream().noneMatch(option -> option.startsWith("--fairgate.leases.enabled="))) {
            all.add("--fairgate.leases.enabled=true");
        }
        if (all.stream().noneMatch(option -> option.startsWith("--fairgate.leases.port="))) {
            all.add("--fairgate.leases.port=0");
        }
        gateway.start(policy, all.toArray(String[]::new));
        isOpen = true;
    }

    @AfterEach
    void giveBackAll() {
        if (isOpen) {
            Leases leases = GatewayLeases.of(gateway.context());
            leases.ids().concatMap(leases::release).blockLast();
        }
    }

    /** As a client calls that was given {@code http://NAME:SECRET@host}; without a colon nothing is shown. */
    private CompletableFuture<Answer> calling(String userInfo, String method, String path, String body) {
        LeasingTenant client = new LeasingTenant(gateway, "");
        return userInfo.isEmpty()
                ? client.future(method, path, body)
                : client.future(
                        method, path, body, "Authorization", basic(userInfo), "Content-Type", "application/json");
    }

    private static String basic(String userInfo) {
        return "Basic " + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
    }

    private Answer call(String userInfo, String method, String path, String body) {
        return calling(userInfo, method, path, body).join();
    }

    private String peer(String userInfo) {
        Answer created = call(userInfo, "POST", "/new_peer", "{\"expires_in\":\"5m\"}");
        assertThat(created.status()).as(created.body()).isEqualTo(200);
        return created.body();
    }

    private Answer lock(String userInfo, String peer, String semaphore, int count) {
        return call(userInfo, "PUT", "/peers/" + peer + "/" + semaphore, Integer.toString(count));
    }

    private Answer release(String userInfo, String peer) {
        return call(userInfo, "DELETE", "/peers/" + peer, "");
    }

    private static void assertSays(Answer answer, int status, String body) {
        assertThat(answer.body()).isEqualTo(body);
        assertThat(answer.status()).isEqualTo(status);
    }

    @Test
    void one_key_enables_throttle_beside_the_lease_api() {
        start(POLICY);
        assertSays(call("", "GET", "/", ""), 200, "Hello from Throttle!");
        assertSays(call("", "GET", "/health", ""), 200, "Ok");
        assertThat(call("", "GET", "/v1/openapi.json", "").status()).isEqualTo(200);
        LeaseApiTest.assertProblem(call("", "GET", "/v1/nothing", ""), 404, "not-found");
        assertSays(call("", "GET", "/nothing", ""), 404, "Sorry, the requested page does not exist.");
    }

    @Test
    void throttle_may_run_without_the_lease_api() {
        start(POLICY, "--fairgate.leases.enabled=false");
        assertSays(call("", "GET", "/", ""), 200, "Hello from Throttle!");
        LeaseApiTest.assertProblem(call("", "GET", "/v1/openapi.json", ""), 404, "not-found");
        String peer = peer("a:");
        assertSays(lock("a:", peer, "single", 1), 200, peer);
    }

    /** They are one tenant, with invented names. */
    @Test
    void unknown_ids_together_leave_room_for_the_leases_of_others() {
        start(POLICY.replace("  plans:", "  unknown: plan\n  plans:"), "--fairgate.leases.max-open=20");
        peer("x:");
        peer("y:");
        assertSays(call("z:", "POST", "/new_peer", "{\"expires_in\":\"5m\"}"), 503, "Too many peers.");
        peer("a:");
    }

    @Test
    void without_the_key_throttle_is_disabled() {
        LeasingTenant.start(gateway, POLICY);
        LeaseApiTest.assertProblem(call("", "GET", "/", ""), 404, "not-found");
        LeaseApiTest.assertProblem(call("a:" + KEY_OF_A, "GET", "/peers/", ""), 404, "not-found");
    }

    @Test
    void peers_leases_and_requests_share_the_permits_of_a_pool(CapturedOutput output) {
        start(POLICY, "--logging.level.io.fairgate.audit=info");
        String a = "a:" + KEY_OF_A;
        String peer = peer(a);
        assertSays(lock(a, peer, "pool", 3), 200, peer);
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(3);
        LeasingTenant leases = new LeasingTenant(gateway, "a");
        Answer lease = leases.acquire("k", "pool", "{}");
        assertThat(lease.status()).isEqualTo(201);
        assertThat(leases.acquire("later", "pool", "{}").status()).isEqualTo(202);
        assertSays(call(a, "GET", "/remainder?semaphore=pool", ""), 200, "0");
        assertThat(call(a, "GET", "/metrics", "").body())
                .contains("throttle_acquired{semaphore=\"pool\"} 4", "throttle_pending{semaphore=\"pool\"} 1");
        assertThat(call(a, "GET", "/peers/", "").body())
                .as("a lease is no peer")
                .isEqualTo("[{\"id\":" + peer + "}]");
        assertSays(call(a, "DELETE", "/peers/" + peer + "/pool", ""), 200, "Ok");
        assertThat(leases.acquire("later", "pool", "{}").status()).isEqualTo(201);
        leases.release(lease.json("id"));
        leases.release(leases.acquire("later", "pool", "{}").json("id"));
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .contains("\"event\":\"lease-granted\"", "\"tenant\":\"a\",\"holder\":\"throttle\""));
        MetricsPage page = MetricsPage.of(gateway);
        String[] tags = {"pool", "pool", "tenant", "a"};
        assertThat(page.value("fairgate_leases_granted_total", tags)).isEqualTo(3);
        assertThat(page.value("fairgate_leases_ended_total", "pool", "pool", "tenant", "a", "how", "released"))
                .as("also the one that was given back before its peer ended")
                .isEqualTo(3);
    }

    @Test
    void a_client_is_the_tenant_of_its_address_if_the_secret_is_a_key_of_it() {
        start(POLICY);
        String a = peer("a:" + KEY_OF_A);
        assertSays(lock("a:" + KEY_OF_A, a, "single", 1), 200, a);
        assertThat(gateway.pool("single").tenants())
                .filteredOn(tenant -> tenant.inFlight() > 0)
                .extracting(tenant -> tenant.tenant().value())
                .containsExactly("a");
        assertSays(lock("b:" + KEY_OF_B, a, "single", 1), 400, "Unknown peer");
        assertSays(call("b:" + KEY_OF_B, "GET", "/peers/", ""), 200, "[]");
        assertSays(release("b:" + KEY_OF_B, a), 200, "\"Peer not found\"");

        LeaseApiTest.assertProblem(call("a:" + KEY_OF_B, "GET", "/peers/", ""), 403, "contradiction");
        LeaseApiTest.assertProblem(call("a:wrong", "GET", "/peers/", ""), 401, "invalid-key");
        LeaseApiTest.assertProblem(call("nobody:", "GET", "/peers/", ""), 403, "unknown-tenant");
        assertSays(call("b:", "GET", "/peers/", ""), 200, "[]");
        LeaseApiTest.assertProblem(call("", "GET", "/peers/", ""), 401, "missing");
    }

    @Test
    void malformed_credentials_are_refused_even_with_a_default_tenant() {
        start(POLICY, "--fairgate.leases.throttle.default-tenant=batch");
        LeasingTenant client = new LeasingTenant(gateway, "");
        for (String credentials : List.of("Basic", "Basic ", "Basic ä", "Basic YQ==", "Basic gIA6")) {
            LeaseApiTest.assertProblem(
                    client.future("GET", "/peers/", "", "Authorization", credentials)
                            .join(),
                    400,
                    "bad-request");
        }
        LeaseApiTest.assertProblem(
                client.future("GET", "/peers/", "", "Authorization", basic("a:x"), "Authorization", basic("b:y"))
                        .join(),
                400,
                "bad-request");
        LeaseApiTest.assertProblem(
                client.future("GET", "/peers/", "", "Authorization", basic("a:"), "X-Tenant-Id", "b")
                        .join(),
                400,
                "malformed");
    }

    @Test
    void a_client_without_credentials_is_the_default_tenant() {
        start(POLICY, "--fairgate.leases.throttle.default-tenant=batch");
        String peer = peer("");
        assertSays(lock("", peer, "single", 1), 200, peer);
        assertThat(gateway.pool("single").tenants())
                .filteredOn(tenant -> tenant.inFlight() > 0)
                .extracting(tenant -> tenant.tenant().value())
                .containsExactly("batch");
        LeaseApiTest.assertProblem(new LeasingTenant(gateway, "").acquire("k", "pool", "{}"), 401, "missing");
    }

    @Test
    void an_unknown_default_tenant_or_pool_stops_the_start() {
        assertThatThrownBy(() -> start(POLICY, "--fairgate.leases.throttle.default-tenant=nobody"))
                .rootCause()
                .hasMessageContaining("fairgate.leases.throttle.default-tenant")
                .hasMessageContaining("nobody")
                .hasMessageContaining("expected: a tenant of the policy, one of a, b, batch, counted");
        assertThatThrownBy(() -> start(POLICY, "--fairgate.leases.throttle.levels.nowhere=1"))
                .rootCause()
                .hasMessageContaining("expected: pools of the policy, one of pool, single");
    }

    @Test
    void locks_of_several_pools_are_taken_in_the_order_of_the_levels() {
        start(POLICY, "--fairgate.leases.throttle.levels.pool=1");
        String a = "a:" + KEY_OF_A;
        String peer = peer(a);
        assertSays(lock(a, peer, "pool", 1), 200, peer);
        assertSays(lock(a, peer, "single", 1), 200, peer);
        String other = peer(a);
        lock(a, other, "single", 1);
        release(a, peer);
        assertSays(
                lock(a, other, "pool", 1),
                409,
                "Lock hierachy violation. This may deadlock. The current lock level is 0 the\n"
                        + "        requested lock level was 1.");
    }

    @Test
    void a_peer_lasts_no_longer_than_the_pools_of_its_locks_allow() {
        start(POLICY);
        String a = "a:" + KEY_OF_A;
        String peer = peer(a);
        assertSays(lock(a, peer, "pool", 1), 200, peer);
        assertSays(call(a, "PUT", "/peers/" + peer, "{\"expires_in\":\"24h\"}"), 200, "Ok");
        assertThat(left(peer)).isBetween(1L, 60_000L);
    }

    private long left(String peer) {
        Leases leases = GatewayLeases.of(gateway.context());
        return Objects.requireNonNull(leases.ids()
                .filter(id -> Long.toUnsignedString(id.low()).equals(peer))
                .concatMap(leases::status)
                .map(status -> status.leftNanos() / 1_000_000)
                .blockFirst());
    }

    @Test
    void a_lock_costs_one_unit_and_is_503_beyond_the_quota(CapturedOutput output) {
        start(POLICY, "--logging.level.io.fairgate.audit=info");
        String peer = peer("counted:");
        for (int i = 0; i < 2; i++) {
            assertSays(lock("counted:", peer, "pool", 2), 200, peer);
            assertSays(lock("counted:", peer, "pool", 2), 200, peer);
            call("counted:", "DELETE", "/peers/" + peer + "/pool", "");
        }
        assertSays(lock("counted:", peer, "pool", 1), 503, QUOTA_USED_UP);
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .contains("\"event\":\"lease-refused\"", "\"pools\":{\"pool\":1},\"reason\":\"quota\""));
        assertThat(new LeasingTenant(gateway, "counted")
                        .acquire("k", "pool", "{}")
                        .status())
                .isEqualTo(429);
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void a_lock_granted_between_two_calls_is_charged_too() {
        start(POLICY);
        String a = "a:" + KEY_OF_A;
        String holder = peer(a);
        lock(a, holder, "single", 1);
        String waiting = peer("counted:");
        assertSays(lock("counted:", waiting, "single", 1), 202, waiting);
        release(a, holder);
        RunningGateway.eventually(() -> assertThat(call("counted:", "GET", "/peers/" + waiting + "/is_acquired", "")
                        .body())
                .isEqualTo("true"));
        call("counted:", "DELETE", "/peers/" + waiting + "/single", "");
        assertSays(lock("counted:", waiting, "single", 1), 200, waiting);
        call("counted:", "DELETE", "/peers/" + waiting + "/single", "");
        assertSays(lock("counted:", waiting, "single", 1), 503, QUOTA_USED_UP);
    }

    @Test
    void a_count_beyond_the_tenants_cap_is_refused_permanently() {
        start(POLICY);
        String peer = peer("b:" + KEY_OF_B);
        assertSays(
                lock("b:" + KEY_OF_B, peer, "pool", 3),
                409,
                "Lock can never be acquired. Lock asks for count 3, more than this tenant may ever hold.");
        assertSays(
                lock("b:" + KEY_OF_B, peer, "pool", 5),
                409,
                "Lock can never be acquired. Lock asks for count 5 yet full count is only 4.");
    }

    @Test
    void a_tenant_restores_no_more_than_it_may_hold_leases_of_the_api_included() {
        start(POLICY);
        String b = "b:" + KEY_OF_B;
        assertSays(
                restore(b, "1", 3),
                409,
                "Lock can never be acquired. Lock asks for count 3, more than this tenant may ever hold.");
        assertSays(restore(b, "1", 1), 200, "Ok");
        assertSays(restore(b, "1", 1), 200, "Ok");
        LeasingTenant leases = new LeasingTenant(gateway, "b");
        String id = leases.acquire("k", "pool", "{}").json("id");
        assertSays(restore(b, "2", 1), 202, "Ok");
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        leases.release(id);
        assertSays(restore(b, "2", 1), 200, "Ok");
        call(b, "DELETE", "/peers/2/pool", "");
        assertSays(restore(b, "3", 1), 200, "Ok");
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains("fairgate_lease_restores_total{result=\"queue\",tenant=\"b\"} 3");
        for (String peer : List.of("1", "2", "3")) {
            assertSays(release(b, peer), 200, "\"Peer released\"");
        }
    }

    private Answer restore(String userInfo, String peer, int count) {
        return call(
                userInfo,
                "POST",
                "/restore",
                "{\"expires_in\":\"1m\",\"peer_id\":%s,\"acquired\":{\"pool\":%d}}".formatted(peer, count));
    }

    @Test
    void a_restore_of_several_locks_costs_one_unit_of_the_quota() {
        start(POLICY);
        String both = "{\"expires_in\":\"1m\",\"peer_id\":%d,\"acquired\":{\"pool\":1,\"single\":1}}";
        assertSays(call("counted:", "POST", "/restore", both.formatted(1)), 200, "Ok");
        assertSays(call("counted:", "POST", "/restore", both.formatted(1)), 200, "Ok");
        release("counted:", "1");
        assertSays(call("counted:", "POST", "/restore", both.formatted(2)), 200, "Ok");
        release("counted:", "2");
        assertSays(call("counted:", "POST", "/restore", both.formatted(3)), 503, QUOTA_USED_UP);
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void a_restore_waits_for_its_turn_and_never_exceeds_the_pool() {
        start(POLICY);
        String holder = peer("a:" + KEY_OF_A);
        lock("a:" + KEY_OF_A, holder, "pool", 4);
        assertSays(restore("b:" + KEY_OF_B, "1", 1), 202, "Ok");
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(4);
        release("a:" + KEY_OF_A, holder);
        assertSays(restore("b:" + KEY_OF_B, "1", 1), 200, "Ok");
    }

    @Test
    void unknown_ids_that_share_a_plan_do_not_share_their_peers() {
        start(POLICY.replace("  plans:", "  unknown: capped\n  plans:"));
        String x = peer("x:");
        assertSays(lock("x:", x, "pool", 2), 200, x);
        assertSays(lock("y:", x, "pool", 2), 400, "Unknown peer");
        String y = peer("y:");
        assertSays(lock("y:", y, "pool", 1), 202, y);
        assertThat(gateway.pool("pool").waiting()).isEqualTo(1);
        release("x:", x);
        release("y:", y);
    }

    @Test
    void one_tenant_leaves_room_for_the_leases_of_others() {
        start(POLICY, "--fairgate.leases.max-open=20");
        peer("a:");
        String second = peer("a:");
        assertSays(call("a:", "POST", "/new_peer", "{\"expires_in\":\"5m\"}"), 503, "Too many peers.");
        peer("b:");
        release("a:", second);
        peer("a:");
    }

    @Test
    void a_shutdown_answers_blocked_calls_and_releases_held_locks() {
        start(POLICY);
        String holder = peer("a:");
        lock("a:", holder, "single", 1);
        String waiting = peer("b:");
        CompletableFuture<Answer> blocked = calling("b:", "PUT", "/peers/" + waiting + "/single?block_for=30s", "1");
        gateway.awaitWaiting("single", 1);
        isOpen = false;
        gateway.close();
        assertSays(blocked.join(), 503, "Shutting down.");
    }
}
