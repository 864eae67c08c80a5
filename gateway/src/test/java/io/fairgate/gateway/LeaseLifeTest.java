package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.lease.LeaseApiServer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The lease port from the start of the gateway to its end, and the traces that leases leave. */
@ExtendWith(OutputCaptureExtension.class)
class LeaseLifeTest {

    private static final String AUDITED = "--logging.level.io.fairgate.audit=info";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");

    private void start(String pool, String... options) {
        LeasingTenant.start(gateway, TestPolicy.onePool(upstream.url(), pool), options);
    }

    @Test
    void the_lease_port_is_closed_by_default() {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1"));
        assertThat(gateway.context().getBeanProvider(LeaseApiServer.class).getIfAvailable())
                .isNull();
    }

    @Test
    void leases_and_requests_share_the_permits_of_a_pool() {
        start("permits: 1, max-wait: 20s");
        Answer lease = a.acquire("k", "pool", "{}");
        CompletableFuture<Answer> request = Answer.future(gateway.url("/fair/x"), "X-Tenant-Id", "b");
        gateway.awaitWaiting("pool", 1);
        a.release(lease.json("id"));
        assertThat(request.join().status()).isEqualTo(200);
    }

    @Test
    void a_shutdown_answers_waiting_calls_and_releases_held_leases() {
        start("permits: 1");
        a.acquire("held", "pool", "{\"ttl\":\"5m\"}");
        CompletableFuture<Answer> waiting = b.acquiring("waits", "pool", "{\"maxWait\":\"30s\"}");
        gateway.awaitWaiting("pool", 1);
        gateway.close();
        Answer answer = waiting.join();
        LeaseApiTest.assertProblem(answer, 503, "draining");
        assertThat(answer.field("Connection")).isEqualTo("close");
        assertThat(answer.field("Retry-After")).isNotEmpty();
    }

    /** Its permit must not go to a request while its holder still works. */
    @Test
    void held_leases_stay_held_until_waiting_requests_are_refused() throws Exception {
        start("permits: 1, max-wait: 1m", "--fairgate.drain-time=400ms");
        a.acquire("held", "pool", "{\"ttl\":\"5m\"}");
        CompletableFuture<Answer> request = Answer.future(gateway.url("/fair/x"), "X-Tenant-Id", "b");
        gateway.awaitWaiting("pool", 1);
        gateway.close();
        LeaseApiTest.assertProblem(request.join(), 503, "draining");
        assertThat(upstream.requests()).isEmpty();
    }

    @Test
    void the_number_of_leases_is_bounded() {
        start("permits: 5", "--fairgate.leases.max-open=2");
        Answer one = a.acquire("1", "pool", "{}");
        Answer two = a.acquire("2", "pool", "{}");
        Answer refused = b.acquire("3", "pool", "{}");
        LeaseApiTest.assertProblem(refused, 503, "too-many-leases");
        assertThat(refused.field("Retry-After")).isEqualTo("1");
        LeaseApiTest.assertProblem(b.restore("3".repeat(32), "{\"pools\":{\"pool\":1}}"), 503, "too-many-leases");
        assertThat(a.acquire("1", "pool", "{}").status())
                .as("an existing lease")
                .isEqualTo(201);
        a.release(one.json("id"));
        Answer three = b.acquire("3", "pool", "{}");
        assertThat(three.status()).isEqualTo(201);
        a.release(two.json("id"));
        b.release(three.json("id"));
    }

    @Test
    void in_dry_run_unidentified_calls_get_no_lease() {
        LeasingTenant.start(gateway, "enforce: false\n" + TestPolicy.onePool(upstream.url(), "permits: 1"));
        LeaseApiTest.assertProblem(new LeasingTenant(gateway, "").acquire("k", "pool", "{}"), 401, "missing");
        LeaseApiTest.assertProblem(new LeasingTenant(gateway, "x").acquire("k", "pool", "{}"), 403, "unknown-tenant");
        Answer lease = a.acquire("k", "pool", "{}");
        assertThat(lease.status()).isEqualTo(201);
        assertThat(gateway.pool("pool").inFlight()).isOne();
        a.release(lease.json("id"));
    }

    /** They are one tenant for permits and quotas, but cannot see each other's leases. */
    @Test
    void unknown_ids_that_share_a_plan_do_not_share_their_leases() {
        LeasingTenant.start(
                gateway,
                TestPolicy.onePool(upstream.url(), "permits: 2").replace("  plans:", "  unknown: plan\n  plans:"));
        LeasingTenant x = new LeasingTenant(gateway, "x");
        LeasingTenant y = new LeasingTenant(gateway, "y");
        String ofX = x.acquire("1", "pool", "{}").json("id");
        String ofY = y.acquire("1", "pool", "{}").json("id");
        assertThat(ofX).isNotEqualTo(ofY);
        LeaseApiTest.assertProblem(y.get(ofX), 404, "lease-expired");
        y.release(ofX);
        assertThat(x.get(ofX).status()).isEqualTo(200);
        x.release(ofX);
        y.release(ofY);
    }

    @Test
    void with_a_file_fencing_tokens_grow_over_a_restart(@TempDir Path folder) {
        String file = "--fairgate.leases.fencing-file=" + folder.resolve("fencing");
        start("permits: 1", file);
        Answer before = a.acquire("k", "pool", "{}");
        a.release(before.json("id"));
        gateway.close();
        start("permits: 1", file);
        Answer after = a.acquire("k", "pool", "{}");
        assertThat(after.number("token"))
                .as("above all tokens of the first process")
                .isGreaterThan(before.number("token") + 300_000_000L);
        a.release(after.json("id"));
    }

    @Test
    void every_event_of_a_lease_is_in_the_audit_log_and_in_the_metrics(CapturedOutput output) {
        start("permits: 2", AUDITED);
        String id =
                a.acquire("k", "pool", "{\"permits\":2,\"holder\":\"batch-7\"}").json("id");
        Answer waits = b.acquire("w", "pool", "{}");
        String metrics = metrics();
        assertThat(metrics)
                .contains("fairgate_leases_open{state=\"held\"} 1", "fairgate_leases_open{state=\"waiting\"} 1");
        a.extend(id, "20s");
        String token = a.get(id).json("token");
        a.release(id);
        RunningGateway.eventually(
                () -> assertThat(b.get(waits.json("id")).json("state")).isEqualTo("held"));
        b.extend(waits.json("id"), "1ms");
        RunningGateway.eventually(() -> assertThat(output.getOut()).contains("lease-expired"));
        a.restore("0".repeat(32), "{\"pools\":{\"pool\":1},\"holder\":\"back\"}");
        a.release("0".repeat(32));
        a.acquire("n", "pool", "{\"permits\":9}");
        RunningGateway.eventually(() -> assertThat(output.getOut()).contains("never-fits"));
        // Concurrent events may be written in either order.
        assertThat(records(output))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"event\":\"lease-granted\",\"at\":\"", "\"tenant\":\"a\",\"holder\":\"batch-7\"")
                        .contains("\"lease\":\"" + id + "\",\"pools\":{\"pool\":2},\"token\":" + token)
                        .containsPattern(",\"waited\":\\d+\\.\\d+,\"ttl\":\\d+\\.\\d+}"))
                .anySatisfy(line -> assertThat(line)
                        .contains("lease-extended", id, "\"pools\":{\"pool\":2}", "\"held\":", "\"ttl\":20.0"))
                .anySatisfy(line -> assertThat(line).contains("lease-released", id, "\"token\":" + token, "\"held\":"))
                .anySatisfy(
                        line -> assertThat(line).contains("lease-granted", "\"tenant\":\"b\",\"lease\"", "\"waited\":"))
                .anySatisfy(line -> assertThat(line).contains("lease-extended", "\"tenant\":\"b\"", "\"ttl\":0.001"))
                .anySatisfy(line -> assertThat(line).contains("lease-expired", "\"tenant\":\"b\"", "\"held\":"))
                .anySatisfy(line -> assertThat(line)
                        .contains("lease-granted", "\"holder\":\"back\"", "\"token\":", "\"pools\":{\"pool\":1}"))
                .anySatisfy(line -> assertThat(line).contains("lease-released", "\"holder\":\"back\"", "\"held\":"))
                .anySatisfy(line -> assertThat(line)
                        .contains("lease-refused", "\"pools\":{\"pool\":9}", "\"reason\":\"never-fits\""));
        assertThat(metrics())
                .contains("fairgate_leases_ended_total{how=\"released\",pool=\"pool\",tenant=\"a\"} 2")
                .contains("fairgate_leases_ended_total{how=\"expired\",pool=\"pool\",tenant=\"b\"} 1")
                .contains("fairgate_leases_granted_total{pool=\"pool\",tenant=\"a\"} 2")
                .contains("fairgate_lease_restores_total{result=\"queue\",tenant=\"a\"} 1")
                .contains("reason=\"never-fits\",tenant=\"a\"} 1")
                .contains("fairgate_leases_open{state=\"held\"} 0", "fairgate_leases_open{state=\"waiting\"} 0");
    }

    @Test
    void a_refusal_by_a_pool_is_in_the_audit_log_and_is_no_release(CapturedOutput output) {
        start("permits: 1, max-waiting: 0", AUDITED);
        String id = a.acquire("k", "pool", "{}").json("id");
        LeaseApiTest.assertProblem(b.acquire("w", "pool", "{\"maxWait\":\"5s\"}"), 503, "pool-queue-full");
        a.release(id);
        RunningGateway.eventually(() -> assertThat(records(output))
                .anySatisfy(line -> assertThat(line)
                        .contains("lease-refused", "\"tenant\":\"b\"", "\"pools\":{\"pool\":1}", "\"waited\":")
                        .contains("\"reason\":\"pool-queue-full\"")));
        assertThat(records(output)).noneMatch(line -> line.contains("-released") && line.contains("\"b\""));
    }

    @Test
    void given_up_places_and_leases_released_by_a_shutdown_are_in_the_audit_log(CapturedOutput output) {
        start("permits: 1", AUDITED);
        String held = a.acquire("k", "pool", "{}").json("id");
        String left = b.acquire("w", "pool", "{}").json("id");
        b.release(left);
        String waits = b.acquire("x", "pool", "{}").json("id");
        gateway.close();
        assertThat(records(output))
                .anySatisfy(line ->
                        assertThat(line).contains("\"lease-left\"", left, "\"pools\":{\"pool\":1}", "\"waited\":"))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"lease-shut-down\"", held, "\"token\":", "\"pools\":{\"pool\":1}", "\"held\":"))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"lease-shut-down\"", waits, "\"pools\":{\"pool\":1}", "\"waited\":"));
    }

    private String metrics() {
        return Answer.to(gateway.managementUrl("/actuator/prometheus")).body();
    }

    private static java.util.List<String> records(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.startsWith("{\"event\":\"lease-"))
                .toList();
    }
}
