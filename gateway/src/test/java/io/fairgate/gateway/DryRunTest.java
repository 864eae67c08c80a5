package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A dry run decides and counts as usual, refuses no request, and shows clients nothing. */
@ExtendWith(OutputCaptureExtension.class)
class DryRunTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final CountDownLatch end = new CountDownLatch(1);

    @BeforeEach
    void holdRequests() {
        upstream.on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
    }

    private String policy(String pool) {
        return TestPolicy.onePool(upstream.url(), pool)
                .replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 2, per: 1h } ] }");
    }

    private CompletableFuture<Answer> future(String path, String... headers) {
        return Answer.future(gateway.url(path), headers);
    }

    private Answer ask(String tenant) {
        return future("/fair/x", "X-Tenant-Id", tenant).join();
    }

    private double refusals(String pool, String tenant, String reason, boolean enforced) {
        return MetricsPage.of(gateway)
                .value(
                        "fairgate_refusals_total",
                        "pool",
                        pool,
                        "tenant",
                        tenant,
                        "reason",
                        reason,
                        "enforced",
                        Boolean.toString(enforced));
    }

    @Test
    void a_pool_in_dry_run_refuses_nothing_and_counts_what_it_would_do() {
        gateway.start(policy("permits: 1, max-waiting: 1, max-wait: 60s, enforce: false")
                .replace("limit: 2", "limit: 50"));
        CompletableFuture<Answer> first = future("/fair/held", "X-Tenant-Id", "a");
        gateway.awaitInFlight("pool", 1);
        CompletableFuture<Answer> second = future("/fair/held", "X-Tenant-Id", "b");
        gateway.awaitWaiting("pool", 1);
        RunningGateway.eventually(() -> assertThat(upstream.concurrency()).isEqualTo(2));

        // Neither tenant is within its share: a new request would be refused.
        Answer third = future("/fair/x", "X-Tenant-Id", "b").join();

        assertThat(third.status()).isEqualTo(200);
        assertThat(third.lines("Server-Timing")).isEmpty();
        assertThat(refusals("pool", "b", "tenant-queue-full", false) + refusals("pool", "b", "pool-queue-full", false))
                .as(MetricsPage.of(gateway).samples().keySet().toString())
                .isOne();
        end.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
        gateway.awaitInFlight("pool", 0);
        gateway.awaitWaiting("pool", 0);
    }

    @Test
    void a_client_that_leaves_cancels_its_dry_run_request() throws Exception {
        gateway.start(policy("permits: 1, max-wait: 60s, enforce: false"));
        CompletableFuture<Answer> first = future("/fair/held", "X-Tenant-Id", "a");
        gateway.awaitInFlight("pool", 1);
        try (RawClient leaving = new RawClient(gateway.port())) {
            leaving.send("GET /fair/held HTTP/1.1\r\nHost: x\r\nX-Tenant-Id: b\r\n\r\n");
            gateway.awaitWaiting("pool", 1);
        }
        gateway.awaitWaiting("pool", 0);
        end.countDown();
        assertThat(first.join().status()).isEqualTo(200);
    }

    @Test
    void a_policy_in_dry_run_refuses_nothing_and_counts_everything(CapturedOutput output) {
        gateway.start(
                "enforce: false\n" + policy("permits: 1"),
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate=info");

        assertThat(future("/fair/x").join().status()).isEqualTo(200);
        assertThat(ask("nobody").status()).isEqualTo(200);
        assertThat(ask("a").status()).isEqualTo(200);
        assertThat(ask("a").status()).isEqualTo(200);
        Answer third = ask("a");

        assertThat(third.status()).isEqualTo(200);
        assertThat(third.lines("RateLimit")).isEmpty();
        assertThat(third.lines("Retry-After")).isEmpty();
        assertThat(refusals("none", "_other", "missing", false)).isOne();
        assertThat(refusals("none", "_other", "unknown-tenant", false)).isOne();
        assertThat(refusals("none", "a", "quota", false)).isOne();
        assertThat(refusals("none", "a", "quota", true)).isZero();
        Answer decisions = Answer.to(gateway.managementUrl("/actuator/decisions"));
        assertThat(decisions.body()).contains("\"enforced\":false").doesNotContain("\"enforced\":true");
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .contains("\"tenant\":\"a\"")
                .containsPattern("\"decisions\":\\[\\{[^]]*\"reason\":\"quota\"")
                .containsPattern("\"event\":\"identity-refused\"[^\n]*\"enforced\":false"));
    }

    @Test
    void in_dry_run_unidentified_requests_are_forwarded_unchanged() {
        gateway.start(
                "enforce: false\n"
                        + policy("permits: 1")
                                .replace(
                                        "  plans:",
                                        "    - { header: X-Edge-Tenant, trusted-from: [10.0.0.0/8] }\n    - api-key: { header: X-Api-Key }\n  plans:"));
        future("/fair/x", "X-Edge-Tenant", "b", "X-Api-Key", "nobodys", "X-Permit-Id", "1")
                .join();
        future("/fair/x", "X-Tenant-Id", "a", "x_tenant_id", "b", "X-Permit-Id", "1")
                .join();
        assertThat(upstream.heads())
                .satisfiesExactly(
                        stranger -> assertThat(stranger)
                                .contains("X-Edge-Tenant: b\r\n", "X-Api-Key: nobodys\r\n")
                                .doesNotContainIgnoringCase("x-tenant-id", "x-permit-id"),
                        tenant -> assertThat(tenant)
                                .contains("X-Tenant-Id: a\r\n")
                                .doesNotContainIgnoringCase("x_tenant_id", "x-permit-id"));
    }

    @Test
    void in_dry_run_unidentified_requests_do_not_reach_tenant_routes() {
        gateway.start("enforce: false\n"
                + policy("permits: 1").replace("\"Path=/fair/**\" ]", "\"Path=/fair/**\", \"Tenant=a\" ]"));
        assertThat(future("/fair/x").join().status()).isEqualTo(404);
        assertThat(ask("nobody").status()).isEqualTo(404);
        assertThat(ask("a").status()).isEqualTo(200);
        assertThat(refusals("none", "_other", "unknown-tenant", false))
                .as("once, although it matches no route")
                .isEqualTo(1);
    }

    @Test
    void in_dry_run_an_ambiguous_path_passes_and_is_counted() {
        gateway.start("enforce: false\n" + policy("permits: 1"));
        assertThat(future("/fair//x").join().status()).isEqualTo(200);
        assertThat(refusals("none", "_other", "ambiguous-path", false)).isEqualTo(1);
    }

    @Test
    void enforced_parts_are_enforced_beside_a_dry_run(CapturedOutput output) {
        gateway.start(
                policy("permits: 1, max-waiting: 0, enforce: false"),
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate=info");
        assertThat(ask("a").status()).isEqualTo(200);
        assertThat(ask("a").status()).isEqualTo(200);
        assertThat(ask("a").status()).isEqualTo(429);
        assertThat(ask("nobody").status()).isEqualTo(403);
        assertThat(refusals("none", "a", "quota", true)).isOne();
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .containsPattern("\"status\":200,\"end\":\"done\"")
                .containsPattern("\"status\":429,\"end\":\"refused\"")
                .containsPattern("\"status\":403,\"end\":\"refused\""));
    }
}
