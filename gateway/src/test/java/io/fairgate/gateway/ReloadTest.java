package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicyReload.Result;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Changes of the policy file of a running gateway.
 */
class ReloadTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final CountDownLatch end = new CountDownLatch(1);
    private PolicyFileOnDisk file = new PolicyFileOnDisk(Path.of("fairgate.yml"));

    @BeforeEach
    void holdRequests(@TempDir Path folder) {
        file = new PolicyFileOnDisk(folder.resolve("fairgate.yml"));
        upstream.on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
    }

    private String policy() {
        return TestPolicy.onePool(upstream.url(), "permits: 2, max-wait: 60s");
    }

    private void start(String policy) {
        gateway.start(file.write(policy).path(), "--fairgate.watch-policy=0s");
    }

    private Answer reload() {
        HttpRequest post = HttpRequest.newBuilder(URI.create(gateway.managementUrl("/actuator/policy")))
                .POST(BodyPublishers.noBody())
                .build();
        var answer = HttpClient.newHttpClient()
                .sendAsync(post, BodyHandlers.ofString())
                .join();
        return new Answer(answer.statusCode(), answer.headers(), answer.body());
    }

    private Answer reload(String policy) {
        file.write(policy);
        return reload();
    }

    private CompletableFuture<Answer> future(String path, String tenant) {
        return Answer.future(gateway.url(path), "X-Tenant-Id", tenant);
    }

    /** Also of a file that only has other comments, as for two gateways that are to have the same file. */
    @Test
    void the_hash_of_the_file_in_force_is_a_meter() throws Exception {
        start(policy());
        assertThat(hash()).isEqualTo(digits(policy()));
        String commented = policy() + "# another one\n";
        assertThat(reload(commented).status()).isEqualTo(200);
        assertThat(hash()).isEqualTo(digits(commented)).isNotEqualTo(digits(policy()));
        reload("pools: {");
        assertThat(hash()).as("a refused file is not in force").isEqualTo(digits(commented));
    }

    private double hash() {
        return MetricsPage.of(gateway).value("fairgate_policy_hash");
    }

    private static double digits(String file) throws NoSuchAlgorithmException {
        byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(file.getBytes(StandardCharsets.UTF_8));
        return Long.parseLong(HexFormat.of().formatHex(sha256).substring(0, 12), 16);
    }

    private int status(String path, String tenant) {
        return future(path, tenant).join().status();
    }

    private double reloads(String result) {
        return MetricsPage.of(gateway).value("fairgate_policy_reloads_total", "result", result);
    }

    @Test
    void tenants_pools_and_routes_change_together() {
        start(policy());
        assertThat(status("/fair/x", "newcomer")).isEqualTo(403);
        assertThat(status("/other/x", "a")).isEqualTo(404);
        assertThat(reloads("success")).isZero();

        Answer report = reload(policy().replace("c: { plan: plan }", "newcomer: { plan: plan }")
                .replace("pools:", "pools:\n  fresh: { permits: 7 }")
                .replace("id: plain", "id: other")
                .replace("Path=/plain/**\" ]", "Path=/other/**\" ]\n    filters: [ FairShare=fresh ]")
                .replace("fair-share: false", "fair-share: true"));

        assertThat(report.status()).isEqualTo(200);
        assertThat(report.json("result")).isEqualTo("CHANGED");
        assertThat(report.json("contents")).isEqualTo("3 members, 2 pools, 2 routes");
        assertThat(status("/fair/x", "newcomer")).isEqualTo(200);
        assertThat(status("/other/x", "newcomer")).isEqualTo(200);
        assertThat(status("/plain/x", "a")).isEqualTo(404);
        assertThat(status("/fair/x", "c")).isEqualTo(403);
        assertThat(gateway.pool("fresh").permits()).isEqualTo(7);
        MetricsPage metrics = MetricsPage.of(gateway);
        assertThat(metrics.value("fairgate_permits_limit", "pool", "fresh")).isEqualTo(7);
        assertThat(metrics.has("fairgate_tenant_weight", "pool", "fresh", "tenant", "newcomer"))
                .isTrue();
        assertThat(metrics.has("fairgate_tenant_weight", "pool", "pool", "tenant", "c"))
                .isFalse();
        assertThat(reloads("success")).isOne();
    }

    @Test
    void a_bean_that_does_not_exist_is_a_mistake_at_its_line() {
        start(policy());
        String bean = TestPolicy.identifiedBy("accounts", policy());
        String mistake =
                "%s:3: tenants.identify[0].bean: no bean \"accounts\" of type TenantResolver".formatted(file.path());

        Answer report = reload(bean);
        assertThat(report.status()).isEqualTo(422);
        assertThat(report.json("mistakes")).startsWith("[" + mistake).doesNotContain(", " + file.path());
        assertThat(status("/fair/x", "a")).isEqualTo(200);

        report = reload(bean.replace("permits: 2", "permits: 0"));
        assertThat(report.json("mistakes")).startsWith("[" + mistake).contains("permits: 0");
    }

    @Test
    void meters_tell_whether_the_latest_policy_is_in_force_and_since_when() {
        double before = System.currentTimeMillis() / 1e3;
        start(policy());
        assertThat(inForce("successful")).isOne();
        double since = inForce("success_timestamp_seconds");
        assertThat(since).isBetween(before, System.currentTimeMillis() / 1e3);

        reload("tenants: [");
        assertThat(inForce("successful")).isZero();
        assertThat(inForce("success_timestamp_seconds")).isEqualTo(since);

        reload(policy());
        assertThat(inForce("successful")).isOne();
        assertThat(inForce("success_timestamp_seconds")).isEqualTo(since);

        reload(policy().replace("permits: 2", "permits: 3"));
        assertThat(inForce("successful")).isOne();
        assertThat(inForce("success_timestamp_seconds")).isGreaterThan(since);
    }

    private double inForce(String what) {
        return MetricsPage.of(gateway).value("fairgate_policy_last_reload_" + what);
    }

    @Test
    void a_file_with_mistakes_changes_nothing_and_is_reported() {
        start(policy());
        Answer report = reload(policy().replace("permits: 2", "permits: 9")
                .replace("a: { plan: plan }", "a: { plan: plam }")
                .replace("127.0.0.0/8", "0.0.0.0/0"));

        assertThat(report.status()).isEqualTo(422);
        assertThat(report.json("result")).isEqualTo("REFUSED");
        assertThat(report.json("mistakes"))
                .isEqualTo("[%s:8: tenants.members.a.plan: unknown plan \"plam\" (expected: plan; did you mean plan?)]"
                        .formatted(file.path()));
        assertThat(report.json("warnings")).contains(":4: ", "any client can send this header");
        assertThat(gateway.pool("pool").permits()).isEqualTo(2);
        assertThat(status("/fair/x", "a")).isEqualTo(200);
        assertThat(reloads("failure")).isOne();
        assertThat(reloads("success")).isZero();
        Answer health = Answer.to(gateway.managementUrl("/actuator/health"));
        assertThat(health.status()).isEqualTo(200);
        assertThat(health.body()).contains("REFUSED", "did you mean plan?");

        report = reload(policy());
        assertThat(report.json("result")).isEqualTo("UNCHANGED");
        assertThat(report.json("warnings")).isEqualTo("[]");
        assertThat(Answer.to(gateway.managementUrl("/actuator/health")).body())
                .contains("UNCHANGED")
                .doesNotContain("did you mean plan?");
    }

    @Test
    void a_route_that_cannot_be_built_refuses_the_whole_file() {
        start(policy());
        Answer report = reload(policy().replace("pools:", "pools:\n  fresh: { permits: 7 }")
                .replace(
                        "Path=/plain/**\" ]",
                        "Path=/plain/**\" ]\n    filters: [ \"FairShare=fresh\", \"SetStatus=\" ]")
                .replace("fair-share: false", "fair-share: true")
                .replace("c: { plan: plan }", "newcomer: { plan: plan, reserved: 2 }"));

        assertThat(report.status()).as(report.body()).isEqualTo(422);
        assertThat(report.json("mistakes")).startsWith("[" + file.path() + ":22: routes[1].filters[1]: SetStatus");
        assertThat(report.json("warnings")).contains(":13: pools.pool.permits: ");
        assertThat(status("/plain/x", "a")).isEqualTo(200);
        assertThat(status("/fair/x", "newcomer")).isEqualTo(403);
        assertThat(MetricsPage.of(gateway).has("fairgate_permits_limit", "pool", "fresh"))
                .isFalse();
        assertThat(reloads("failure")).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = {"order: first", "metadata: x", "predicates: Path=/other/**", "filters: StripPrefix=1"})
    void a_malformed_route_is_a_mistake_like_any_other(String line) {
        start(policy());
        Answer report = reload(policy().replace("  - id: plain\n", "  - id: plain\n    " + line + "\n"));

        assertThat(report.status()).as(report.body()).isEqualTo(422);
        assertThat(report.json("mistakes")).contains("routes[1].");
        assertThat(status("/plain/x", "a")).isEqualTo(200);
    }

    @Test
    void a_missing_file_changes_nothing() throws IOException {
        start(policy());
        Files.delete(file.path());

        Answer report = reload();

        assertThat(report.status()).isEqualTo(422);
        assertThat(report.json("mistakes")).contains("no such file");
        assertThat(status("/fair/x", "a")).isEqualTo(200);
    }

    @Test
    void held_permits_and_places_in_the_queue_stay() {
        start(policy());
        CompletableFuture<Answer> first = future("/fair/held", "a");
        CompletableFuture<Answer> second = future("/fair/held", "b");
        gateway.awaitInFlight("pool", 2);
        CompletableFuture<Answer> waiting = future("/fair/x", "c");
        gateway.awaitWaiting("pool", 1);

        assertThat(reload(policy().replace("permits: 2", "permits: 1").replace("plan: {}", "plan: { weight: 3 }"))
                        .json("result"))
                .isEqualTo("CHANGED");

        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        assertThat(gateway.pool("pool").waiting()).isOne();
        assertThat(gateway.pool("pool").permits()).isOne();
        assertThat(reload(policy().replace("permits: 2", "permits: 3")).json("result"))
                .isEqualTo("CHANGED");
        assertThat(waiting.join().status()).isEqualTo(200);
        end.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
    }

    @Test
    void quota_balances_stay() {
        String metered =
                policy().replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 3, per: 1h, burst: 3 } ] }");
        start(metered);
        assertThat(status("/fair/x", "a")).isEqualTo(200);
        assertThat(status("/fair/x", "a")).isEqualTo(200);

        assertThat(reload(metered.replace("permits: 2", "permits: 5")).json("result"))
                .isEqualTo("CHANGED");

        assertThat(status("/fair/x", "a")).isEqualTo(200);
        assertThat(status("/fair/x", "a")).isEqualTo(429);
        assertThat(MetricsPage.of(gateway).value("fairgate_quota_remaining", "tenant", "a", "quota", "hourly"))
                .isZero();
    }

    @Test
    void a_pool_that_is_removed_and_named_again_while_in_use_is_the_same() {
        start(policy());
        CompletableFuture<Answer> first = future("/fair/held", "a");
        CompletableFuture<Answer> second = future("/fair/held", "b");
        gateway.awaitInFlight("pool", 2);
        CompletableFuture<Answer> waiting = future("/fair/x", "c");
        gateway.awaitWaiting("pool", 1);

        assertThat(reload(policy().replace("pool: {", "other: {").replace("FairShare=pool", "FairShare=other"))
                        .json("result"))
                .isEqualTo("CHANGED");
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        assertThat(reload(policy()).json("result")).isEqualTo("CHANGED");

        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);
        assertThat(gateway.pool("pool").waiting()).isOne();
        end.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void a_change_of_the_file_is_noticed() {
        gateway.start(file.write(policy()).path(), "--fairgate.watch-policy=20ms");
        file.write(policy().replace("permits: 2", "permits: 5"));
        RunningGateway.eventually(
                () -> assertThat(gateway.pool("pool").permits()).isEqualTo(5));
        file.write("tenants: [");
        RunningGateway.eventually(() -> assertThat(reloads("failure")).isOne());
        assertThat(status("/fair/x", "a")).isEqualTo(200);
        file.write(policy().replace("permits: 2", "permits: 6"));
        RunningGateway.eventually(
                () -> assertThat(gateway.pool("pool").permits()).isEqualTo(6));
        assertThat(reloads("failure")).isOne();
    }

    @ParameterizedTest
    @ExtendWith(OutputCaptureExtension.class)
    @ValueSource(strings = {"tenants: [", "\"SetStatus=\" ]"})
    void a_refused_file_is_reported_once(String mistake, CapturedOutput output) {
        start(policy());
        PolicyReload reload = gateway.context().getBean(PolicyReload.class);
        String bad = mistake.startsWith("tenants") ? mistake : policy().replace("\"FairShare=pool\" ]", mistake);

        // The watcher reports the old file when the new one has already replaced it, and then the new one.
        file.write(bad);
        assertThat(reload.reloadUnlessRefused().result()).isEqualTo(Result.REFUSED);
        assertThat(reload.reloadUnlessRefused().mistakes()).hasSize(1);

        assertThat(reloads("failure")).isOne();
        assertThat(linesOfRefusals(output)).hasSize(1);
        assertThat(reload().status()).isEqualTo(422);
        assertThat(reloads("failure")).isEqualTo(2);
        file.write(policy());
        assertThat(reload.reloadUnlessRefused().result()).isEqualTo(Result.UNCHANGED);
        file.write(bad);
        assertThat(reload.reloadUnlessRefused().result()).isEqualTo(Result.REFUSED);
        assertThat(reloads("failure")).isEqualTo(3);
        assertThat(linesOfRefusals(output)).hasSize(3);
    }

    private List<String> linesOfRefusals(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains(file.path() + " is refused, the previous one stays in force"))
                .toList();
    }
}
