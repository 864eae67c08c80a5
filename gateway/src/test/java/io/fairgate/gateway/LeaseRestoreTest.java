package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holders come back after a restart with what they held, though nobody knows them any more. */
class LeaseRestoreTest {

    private static final String ID = "0123456789abcdef0123456789abcdef";
    private static final String TWO = "{\"pools\":{\"pool\":2},\"ttl\":\"20s\",\"holder\":\"batch\"}";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");

    private void start(String... options) {
        LeasingTenant.start(gateway, TestPolicy.onePool("http://127.0.0.1:9", "permits: 3"), options);
    }

    @Test
    void what_was_held_is_held_again_and_nobody_gets_more_than_there_is_until_enough_has_come_back() {
        start();
        Answer early = b.acquire("early", "pool", "{\"permits\":2}");
        Answer restored = a.restore(ID, TWO);
        assertThat(restored.status()).as(restored.body()).isEqualTo(200);
        assertThat(restored.json())
                .containsEntry("id", ID)
                .containsEntry("state", "held")
                .containsEntry("holder", "batch");
        assertThat(restored.number("token")).isGreaterThan(early.number("token"));
        assertThat(restored.number("expiresInMillis")).isBetween(1L, 20_000L);
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(4);
        assertThat(b.acquire("late", "pool", "{}").status()).isEqualTo(202);

        assertThat(a.restore(ID, TWO).json())
                .as("again")
                .containsEntry("token", restored.json().get("token"));
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(4);
        assertThat(a.extend(ID, "30s").status()).isEqualTo(200);
        a.release(ID);
        assertThat(b.acquire("late", "pool", "{\"maxWait\":\"30s\"}").status()).isEqualTo(201);
        b.release(early.json("id"));
        b.release(b.acquire("late", "pool", "{}").json("id"));
        LeaseApiTest.assertProblem(a.restore(ID, TWO), 409, "lease-ended");
    }

    @Test
    void an_id_that_is_in_use_otherwise_is_a_conflict() {
        start();
        a.restore(ID, TWO);
        LeaseApiTest.assertProblem(b.restore(ID, TWO), 409, "restore-conflict");
        LeaseApiTest.assertProblem(a.restore(ID, "{\"pools\":{\"pool\":1}}"), 409, "restore-conflict");
        String acquired = b.acquire("k", "pool", "{}").json("id");
        LeaseApiTest.assertProblem(a.restore(acquired, "{\"pools\":{\"pool\":1}}"), 409, "restore-conflict");
        assertThat(b.restore(acquired, "{\"pools\":{\"pool\":1}}").status()).isEqualTo(200);
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(3);
        a.release(ID);
        b.release(acquired);
    }

    @Test
    void a_tenant_restores_no_more_than_it_could_ever_have_had() {
        start();
        LeaseApiTest.assertProblem(a.restore(ID, "{\"pools\":{\"pool\":4}}"), 409, "never-fits");
        assertThat(a.restore(ID, TWO).status()).isEqualTo(200);
        LeaseApiTest.assertProblem(a.restore("1".repeat(32), TWO), 409, "never-fits");
        assertThat(a.restore("1".repeat(32), "{\"pools\":{\"pool\":1}}").status())
                .isEqualTo(200);
        a.release(ID);
        assertThat(a.restore("2".repeat(32), TWO).status()).isEqualTo(200);
        a.release("1".repeat(32));
        a.release("2".repeat(32));
        LeaseApiTest.assertProblem(a.restore("3".repeat(32), "{\"pools\":{\"nowhere\":1}}"), 404, "unknown-pool");
        LeaseApiTest.assertProblem(a.restore("x", TWO), 400, "bad-request");
    }

    @Test
    void after_the_window_nothing_is_restored_any_more() {
        start("--fairgate.leases.restore-window=0s");
        LeaseApiTest.assertProblem(a.restore(ID, TWO), 409, "restore-closed");
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void calls_that_come_at_once_restore_one_lease() {
        start();
        List<CompletableFuture<Answer>> calls = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            calls.add(a.future("POST", "/v1/leases/" + ID + "/restore", TWO));
        }
        assertThat(calls).extracting(call -> call.join().status()).containsOnly(200);
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        a.release(ID);
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void many_that_come_at_once_and_hold_too_much_are_all_refused() {
        start();
        for (int round = 0; round < 20; round++) {
            String id = Integer.toHexString(round % 16).repeat(32);
            List<CompletableFuture<Answer>> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                calls.add(a.future("POST", "/v1/leases/" + id + "/restore", "{\"pools\":{\"pool\":1000000}}"));
            }
            calls.forEach(call -> LeaseApiTest.assertProblem(call.join(), 409, "never-fits"));
        }
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    /** The one that is refused by the pool is found by the others while it is asked. */
    @Test
    void who_comes_while_a_restore_is_refused_is_answered() {
        start();
        String held = a.acquire("k", "pool", "{\"permits\":2}").json("id");
        for (int round = 0; round < 20; round++) {
            List<CompletableFuture<Answer>> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                calls.add(a.future("POST", "/v1/leases/" + ID + "/restore", TWO));
            }
            calls.forEach(call -> assertThat(call.join().status()).isIn(404, 409));
        }
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        a.release(held);
    }
}
