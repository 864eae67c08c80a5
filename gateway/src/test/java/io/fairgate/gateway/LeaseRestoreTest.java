package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** After a restart, holders restore their leases with receipts; holders without a receipt wait like all others. */
@ExtendWith(OutputCaptureExtension.class)
class LeaseRestoreTest {

    private static final String ID = "0123456789abcdef0123456789abcdef";
    private static final String KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    private static final String OTHER_KEY = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY3ODkw";
    private static final String KEYS = "--fairgate.leases.receipt-key=";
    private static final String TWO = "{\"pools\":{\"pool\":2},\"ttl\":\"4m\",\"holder\":\"batch\"}";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");
    private final LeasingTenant c = new LeasingTenant(gateway, "c");
    private String pool = "permits: 3";

    private void startWithout(String... options) {
        LeasingTenant.start(gateway, TestPolicy.onePool("http://127.0.0.1:9", pool), options);
    }

    private void start(String... options) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        if (all.stream().noneMatch(option -> option.startsWith(KEYS))) {
            all.add(KEYS + KEY);
        }
        startWithout(all.toArray(String[]::new));
    }

    private void restart(String... options) {
        gateway.close();
        start(options);
    }

    private static String with(String receipt) {
        return "{\"receipt\":\"%s\",\"ttl\":\"4m\",\"holder\":\"batch\"}".formatted(receipt);
    }

    private static Answer restore(LeasingTenant tenant, Answer before) {
        return tenant.restore(before.json("id"), with(before.json("receipt")));
    }

    private Answer held(LeasingTenant tenant, int permits) {
        Answer lease = tenant.acquire("before" + permits, "pool", "{\"permits\":%d,\"ttl\":\"5m\"}".formatted(permits));
        assertThat(lease.status()).isEqualTo(201);
        return lease;
    }

    private int inFlight() {
        return gateway.pool("pool").inFlight();
    }

    private void assertBelieved(Answer restored) {
        assertThat(restored.status()).as(restored.body()).isEqualTo(200);
        assertThat(restored.json()).containsEntry("state", "held").containsEntry("restored", "receipt");
    }

    private void assertQueued(Answer restored) {
        assertThat(restored.status()).as(restored.body()).isEqualTo(202);
        assertThat(restored.json()).containsEntry("state", "waiting").containsEntry("restored", "queue");
    }

    // ---- with a receipt ----

    @Test
    void a_receipt_restores_a_lease_past_the_queue_even_beyond_the_pool() {
        start();
        Answer before = held(a, 2);
        restart();
        Answer early = held(b, 2);
        assertThat(b.acquire("late", "pool", "{\"permits\":2,\"ttl\":\"5m\"}").status())
                .isEqualTo(202);
        Answer restored = restore(a, before);
        assertBelieved(restored);
        assertThat(restored.json())
                .containsEntry("id", before.json("id"))
                .containsEntry("holder", "batch")
                .containsEntry("pools", before.json().get("pools"));
        assertThat(restored.number("token"))
                .isGreaterThan(early.number("token"))
                .isGreaterThan(before.number("token"));
        assertThat(restored.number("expiresInMillis")).isBetween(1L, 240_000L);
        assertThat(inFlight()).isEqualTo(4);

        b.release(early.json("id"));
        assertThat(inFlight()).isEqualTo(2);
        assertThat(a.extend(before.json("id"), "5m").status()).isEqualTo(200);
        a.release(before.json("id"));
        Answer late = b.acquire("late", "pool", "{\"permits\":2,\"ttl\":\"5m\",\"maxWait\":\"30s\"}");
        assertThat(late.status()).isEqualTo(201);
        b.release(late.json("id"));
    }

    @Test
    void every_answer_about_a_held_lease_has_a_receipt_that_is_valid_until_its_expiry() {
        start();
        Answer granted = held(a, 1);
        String id = granted.json("id");
        List<String> receipts = new ArrayList<>(List.of(
                granted.json("receipt"),
                a.get(id).json("receipt"),
                a.extend(id, "5m").json("receipt")));
        assertThat(a.acquire("w", "pool", "{\"permits\":3}").json()).doesNotContainKey("receipt");
        restart();
        receipts.add(a.restore(id, with(receipts.get(2))).json("receipt"));
        for (String receipt : receipts.subList(0, 3)) {
            assertBelieved(a.restore(id, with(receipt)));
        }
        assertThat(inFlight()).isOne();
        restart();
        assertBelieved(a.restore(id, with(receipts.get(3))));
        a.release(id);
    }

    @Test
    void a_restore_with_a_receipt_is_in_the_audit_log_and_in_the_metrics_and_costs_no_quota(CapturedOutput output) {
        String policy = TestPolicy.onePool("http://127.0.0.1:9", pool)
                .replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 1, per: 1h } ] }");
        LeasingTenant.start(gateway, policy, KEYS + KEY);
        Answer before = held(a, 2);
        gateway.close();
        LeasingTenant.start(gateway, policy, KEYS + KEY, "--logging.level.io.fairgate.audit=info");
        assertBelieved(restore(a, before));
        a.restore(ID, with("v1.x.y.z"));
        assertThat(a.acquire("next", "pool", "{}").status()).as("the only unit").isEqualTo(201);
        a.release(a.acquire("next", "pool", "{}").json("id"));
        a.release(before.json("id"));
        RunningGateway.eventually(() -> assertThat(output.getOut().lines().filter(line -> line.startsWith("{")))
                .anySatisfy(line -> assertThat(line)
                        .contains(
                                "\"lease-restored\"",
                                "\"holder\":\"batch\"",
                                before.json("id"),
                                "\"pools\":{\"pool\":2}"))
                .anySatisfy(
                        line -> assertThat(line).contains("\"lease-refused\"", ID, "\"reason\":\"receipt-invalid\"")));
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains("fairgate_lease_restores_total{result=\"receipt\",tenant=\"a\"} 1")
                .contains("fairgate_lease_restores_total{result=\"refused\",tenant=\"a\"} 1");
    }

    // ---- invalid receipts ----

    @Test
    void an_altered_or_foreign_receipt_is_refused() {
        start();
        Answer before = held(a, 2);
        String id = before.json("id");
        String receipt = before.json("receipt");
        restart();
        assertInvalid(b.restore(id, with(receipt)), "another tenant");
        assertInvalid(a.restore(ID, with(receipt)), "another lease");
        assertInvalid(
                a.restore(id, "{\"pools\":{\"pool\":3},\"receipt\":\"%s\"}".formatted(receipt)),
                "other pools or permits");
        assertInvalid(
                a.restore(id, "{\"pools\":{\"others\":2},\"receipt\":\"%s\"}".formatted(receipt)),
                "other pools or permits");
        for (String altered : List.of(
                receipt.replaceFirst("v1", "v2"),
                receipt.substring(0, receipt.length() - 2),
                receipt.replace('.', ' '),
                receipt + "x",
                "x")) {
            assertInvalid(a.restore(id, with(altered)), "No key of this server");
        }
        LeaseApiTest.assertProblem(a.restore(id, "{\"receipt\":1}"), 400, "bad-request");
        assertThat(inFlight()).isZero();
        assertBelieved(a.restore(id, "{\"pools\":{\"pool\":2},\"receipt\":\"%s\"}".formatted(receipt)));
        a.release(id);
    }

    private static void assertInvalid(Answer answer, String why) {
        LeaseApiTest.assertProblem(answer, 409, "receipt-invalid");
        assertThat(answer.json("detail")).contains(why);
    }

    @Test
    void a_receipt_expires_with_its_lease() {
        start();
        Answer before = a.acquire("k", "pool", "{\"ttl\":\"2s\"}");
        Instant expiry = Instant.parse(before.json("expiresAt"));
        restart();
        RunningGateway.eventually(() -> assertThat(Instant.now()).isAfter(expiry));
        LeaseApiTest.assertProblem(restore(a, before), 409, "receipt-expired");
        assertThat(inFlight()).isZero();
    }

    @Test
    void receipts_of_an_older_key_are_valid_while_the_server_has_the_key() {
        start();
        Answer old = held(a, 1);
        restart(KEYS + OTHER_KEY + "," + KEY);
        assertBelieved(restore(a, old));
        Answer renewed = held(a, 2);
        restart(KEYS + OTHER_KEY);
        assertInvalid(restore(a, old), "No key of this server");
        assertBelieved(restore(a, renewed));
        a.release(renewed.json("id"));
    }

    @Test
    void after_the_window_nothing_is_restored() {
        start();
        Answer before = held(a, 1);
        restart("--fairgate.leases.restore-window=0s");
        LeaseApiTest.assertProblem(restore(a, before), 409, "restore-closed");
        LeaseApiTest.assertProblem(a.restore(ID, TWO), 409, "restore-closed");
        assertThat(inFlight()).isZero();
    }

    // ---- once ----

    @Test
    void concurrent_calls_restore_one_lease() {
        start();
        Answer before = held(a, 2);
        String id = before.json("id");
        restart();
        List<CompletableFuture<Answer>> calls = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            calls.add(a.future("POST", "/v1/leases/" + id + "/restore", with(before.json("receipt"))));
        }
        assertThat(calls).extracting(call -> call.join().status()).containsOnly(200);
        assertThat(calls)
                .extracting(call -> call.join().number("token"))
                .as("one grant")
                .containsOnly(a.get(id).number("token"));
        assertThat(inFlight()).isEqualTo(2);
        a.release(id);
        assertThat(inFlight()).isZero();
    }

    @Test
    void a_released_lease_is_not_restored_even_when_most_ended_leases_are_forgotten() {
        String few = "--fairgate.leases.max-open=1";
        start(few);
        Answer before = held(a, 2);
        restart(few);
        assertBelieved(restore(a, before));
        a.release(before.json("id"));
        LeaseApiTest.assertProblem(restore(a, before), 409, "lease-ended");
        Answer mine = a.acquire("k", "pool", "{\"ttl\":\"5m\"}");
        a.release(mine.json("id"));
        a.release(a.acquire("l", "pool", "{}").json("id"));
        LeaseApiTest.assertProblem(restore(a, before), 409, "lease-ended");
        LeaseApiTest.assertProblem(restore(a, mine), 409, "lease-ended");
        assertThat(inFlight()).isZero();
    }

    @Test
    void a_lease_that_is_released_before_it_is_restored_stays_released() {
        start();
        Answer before = held(a, 2);
        restart();
        assertThat(b.release(before.json("id")).status()).isEqualTo(204);
        a.release(before.json("id"));
        LeaseApiTest.assertProblem(restore(a, before), 409, "lease-ended");
        assertThat(inFlight()).isZero();
    }

    @Test
    void a_tenant_cannot_release_a_lease_of_another_before_its_restore() {
        start();
        Answer before = held(a, 2);
        restart();
        b.release(before.json("id"));
        assertBelieved(restore(a, before));
        a.release(before.json("id"));
    }

    // ---- collected receipts ----

    @Test
    void receipts_of_released_leases_restore_no_more_than_the_tenant_may_hold() {
        start();
        List<Answer> collected = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            collected.add(a.acquire("a" + i, "pool", "{\"permits\":2,\"ttl\":\"5m\"}"));
            a.release(collected.get(i).json("id"));
        }
        restart();
        assertBelieved(restore(a, collected.get(0)));
        assertQueued(restore(a, collected.get(1)));
        assertQueued(restore(a, collected.get(2)));
        assertThat(inFlight()).isEqualTo(2);
        collected.forEach(each -> a.release(each.json("id")));
    }

    @Test
    void all_tenants_together_restore_at_most_the_pool_and_the_others_wait() {
        start();
        Answer ofA = held(a, 2);
        a.release(ofA.json("id"));
        Answer ofB = held(b, 3);
        b.release(ofB.json("id"));
        Answer ofC = held(c, 1);
        restart();
        assertBelieved(restore(a, ofA));
        assertQueued(restore(b, ofB));
        assertBelieved(restore(c, ofC));
        assertThat(inFlight()).isEqualTo(3);
        a.release(ofA.json("id"));
        assertThat(restore(b, ofB).json("state")).isEqualTo("waiting");
        c.release(ofC.json("id"));
        Answer granted = b.restore(ofB.json("id"), with(ofB.json("receipt")).replace("}", ",\"maxWait\":\"30s\"}"));
        assertThat(granted.status()).isEqualTo(200);
        assertThat(granted.json()).containsEntry("restored", "queue");
        assertThat(inFlight()).isEqualTo(3);
        b.release(ofB.json("id"));
    }

    @Test
    void a_restore_beyond_a_reduced_cap_is_refused() {
        start();
        Answer before = held(a, 3);
        pool = "permits: 2";
        restart();
        LeaseApiTest.assertProblem(restore(a, before), 409, "never-fits");
        assertThat(inFlight()).isZero();
    }

    // ---- without a receipt ----

    @Test
    void without_a_receipt_a_restore_waits_in_the_queue() {
        start();
        Answer early = held(b, 2);
        String waits =
                b.acquire("late", "pool", "{\"permits\":2,\"ttl\":\"5m\"}").json("id");
        assertQueued(a.restore(ID, "{\"pools\":{\"pool\":3},\"ttl\":\"5m\"}"));
        assertThat(inFlight()).isEqualTo(2);
        b.release(early.json("id"));
        RunningGateway.eventually(() -> assertThat(b.get(waits).json("state")).isEqualTo("held"));
        assertQueued(a.restore(ID, "{\"pools\":{\"pool\":3},\"ttl\":\"5m\"}"));
        assertThat(inFlight()).isEqualTo(2);
        b.release(waits);
        Answer granted = a.restore(ID, "{\"pools\":{\"pool\":3},\"ttl\":\"5m\",\"maxWait\":\"30s\"}");
        assertThat(granted.status()).isEqualTo(200);
        assertThat(inFlight()).isEqualTo(3);
        a.release(ID);
    }

    @Test
    void a_server_without_a_key_issues_no_receipts_and_queues_restores() {
        startWithout();
        Answer before = held(a, 2);
        assertThat(before.json()).doesNotContainKey("receipt");
        gateway.close();
        startWithout();
        Answer early = held(b, 2);
        String body = "{\"pools\":{\"pool\":2},\"ttl\":\"5m\",\"receipt\":\"v1.of.another.server\"}";
        assertQueued(a.restore(before.json("id"), body));
        assertThat(inFlight()).isEqualTo(2);
        b.release(early.json("id"));
        Answer restored = a.restore(before.json("id"), body);
        assertThat(restored.json()).containsEntry("state", "held").containsEntry("restored", "queue");
        a.release(before.json("id"));
        LeaseApiTest.assertProblem(a.restore(before.json("id"), body), 409, "lease-ended");
    }

    @Test
    void an_id_that_is_already_in_use_is_a_conflict() {
        start();
        a.restore(ID, TWO);
        LeaseApiTest.assertProblem(b.restore(ID, TWO), 409, "restore-conflict");
        LeaseApiTest.assertProblem(a.restore(ID, "{\"pools\":{\"pool\":1}}"), 409, "restore-conflict");
        String acquired = b.acquire("k", "pool", "{}").json("id");
        LeaseApiTest.assertProblem(a.restore(acquired, "{\"pools\":{\"pool\":1}}"), 409, "restore-conflict");
        assertThat(b.restore(acquired, "{\"pools\":{\"pool\":1}}").status()).isEqualTo(200);
        assertThat(inFlight()).isEqualTo(3);
        a.release(ID);
        b.release(acquired);
        LeaseApiTest.assertProblem(a.restore("3".repeat(32), "{\"pools\":{\"nowhere\":1}}"), 404, "unknown-pool");
        LeaseApiTest.assertProblem(a.restore("4".repeat(32), "{\"pools\":{\"pool\":4}}"), 409, "never-fits");
        LeaseApiTest.assertProblem(a.restore("x", TWO), 400, "bad-request");
    }

    /** The pool refuses the first restore, which becomes an acquisition while the others join it. */
    @Test
    void concurrent_restores_without_a_receipt_wait_for_one_lease() {
        pool = "permits: 50";
        start();
        List<Answer> before = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            before.add(a.acquire("before" + i, "pool", "{\"ttl\":\"5m\"}"));
        }
        restart();
        Answer mine = held(a, 50);
        for (Answer lease : before) {
            List<CompletableFuture<Answer>> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                calls.add(a.future("POST", "/v1/leases/" + lease.json("id") + "/restore", with(lease.json("receipt"))));
            }
            calls.forEach(call -> assertQueued(call.join()));
            assertThat(gateway.pool("pool").waiting()).isOne();
            a.release(lease.json("id"));
        }
        assertThat(inFlight()).isEqualTo(50);
        a.release(mine.json("id"));
    }
}
