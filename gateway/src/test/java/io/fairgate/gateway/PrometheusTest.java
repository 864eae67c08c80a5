package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The files of {@code config/monitoring} in a real Prometheus, beside traffic that has something for every panel of the dashboard.
 * Prometheus must be installed with promtool, and setpriv.
 */
@Tag("monitoring")
class PrometheusTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    @RegisterExtension
    final ScriptedUpstream second = new ScriptedUpstream();

    private volatile boolean isRunning = true;
    private RedisProcess redis;
    private TraceCollector collector;

    @BeforeEach
    void startServers() throws IOException {
        redis = new RedisProcess();
        collector = new TraceCollector();
    }

    @AfterEach
    void stopServers() {
        redis.close();
        collector.close();
    }

    /** With pools and leases in Redis, because the dashboard shows those as well, and with traces. */
    private void start() {
        both.start(
                policy(),
                "--fairgate.backend=redis",
                "--spring.data.redis.port=" + redis.port(),
                LeasingTenant.ON,
                "--fairgate.tracing.endpoint=" + collector.endpoint(),
                "--fairgate.leases.port=0");
        ScriptedUpstream.Script slow = exchange -> {
            Thread.sleep(20);
            ScriptedUpstream.OK.answer(exchange);
        };
        both.upstream().on("/fair/x", slow).on("/batch/x", slow);
        second.on("/fair/x", slow);
    }

    private String policy() {
        return """
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  classes:
                    batch: {}
                  plans:
                    standard: {}
                    trial: { quotas: [ { name: burst, limit: 3, per: 10s } ] }
                  groups:
                    acme: {}
                  members:
                    noisy: { plan: standard }
                    quiet: { plan: standard }
                    shop: { plan: standard, parent: acme }
                    limited: { plan: trial }
                pools:
                  demo: { permits: 4, max-wait: 10s }
                upstreams:
                  api: { uris: [ "http://UPSTREAM", "SECOND" ] }
                routes:
                  - id: fair
                    upstream: api
                    predicates: [ "Path=/fair/**" ]
                    filters: [ "FairShare=demo" ]
                  - id: batch
                    uri: http://UPSTREAM
                    predicates: [ "Path=/batch/**" ]
                    filters: [ { name: FairShare, args: { pool: demo, class: batch } } ]
                  - id: lost
                    uri: http://127.0.0.1:1
                    predicates: [ "Path=/lost/**" ]
                    filters: [ "FairShare=demo" ]
                """.replace("SECOND", second.url());
    }

    /** Sends the next request when the one before is answered, and so on. */
    private CompletableFuture<Answer> repeat(String path, String tenant) {
        return Answer.future(both.gateway().url(path), "X-Tenant-Id", tenant)
                .thenCompose(answer -> isRunning ? repeat(path, tenant) : CompletableFuture.completedFuture(answer));
    }

    /** Leases a permit, releases it, and so on. */
    private CompletableFuture<Answer> lease(LeasingTenant tenant, int number) {
        return tenant.acquiring("job-" + number, "demo", "{\"maxWait\":\"9s\"}")
                .thenCompose(lease -> lease.status() == 201
                        ? tenant.future("DELETE", "/v1/leases/" + lease.json("id"), "")
                        : CompletableFuture.completedFuture(lease))
                .thenCompose(
                        answer -> isRunning ? lease(tenant, number + 1) : CompletableFuture.completedFuture(answer));
    }

    private List<CompletableFuture<Answer>> traffic() {
        List<CompletableFuture<Answer>> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            clients.add(repeat("/fair/x", "noisy"));
        }
        for (int i = 0; i < 3; i++) {
            clients.add(repeat("/fair/x", "quiet"));
            clients.add(repeat("/batch/x", "shop"));
        }
        clients.add(repeat("/lost/x", "quiet"));
        clients.add(repeat("/fair/x", "limited"));
        clients.add(lease(new LeasingTenant(both.gateway(), "shop"), 1));
        return clients;
    }

    /** Every query of the dashboard, by its panel, with a value for each of its variables. */
    private static Map<String, String> queries() throws IOException {
        Map<String, String> queries = new LinkedHashMap<>();
        JsonNode dashboard =
                JsonMapper.builder().build().readTree(Files.readString(Prometheus.FOLDER.resolve("dashboard.json")));
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                queries.put(
                        panel.path("title").asString() + " "
                                + target.path("refId").asString(),
                        target.path("expr")
                                .asString()
                                .replace("$__rate_interval", "15s")
                                .replaceAll("\\$(job|pool|tenant)", ".+"));
            }
        }
        return queries;
    }

    @Test
    void every_query_of_the_dashboard_returns_data(@TempDir Path folder) throws Exception {
        start();
        try (Prometheus prometheus = new Prometheus(folder, both.gateway().managementPort())) {
            List<CompletableFuture<Answer>> clients = traffic();
            Map<String, String> empty = queries();
            assertThat(empty).hasSizeGreaterThan(35);
            Awaitility.await()
                    .atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofSeconds(1))
                    .untilAsserted(() -> {
                        empty.values().removeIf(query -> !prometheus.ask(query).isEmpty());
                        assertThat(empty).isEmpty();
                        assertThat(prometheus.alerts()).contains("FairgateRequestsWait", "FairgateUpstreamFailing");
                    });
            assertThat(prometheus.alerts())
                    .doesNotContain(
                            "FairgateTenantBelowShare", "FairgatePermitsNotAccountedFor", "FairgateBackendLost");
            assertThat(prometheus
                            .ask("job_pool:fairgate_permits_in_flight:ratio")
                            .get(0))
                    .isBetween(0.5, 1.0);
            assertThat(prometheus.ask("job_pool:fairgate_fairness:jain5m").get(0))
                    .isBetween(0.5, 1.0);
            assertThat(prometheus.traces("fairgate_hold_seconds_bucket"))
                    .as("traces of the latest minute")
                    .isNotEmpty()
                    .allMatch(trace -> trace.matches("[0-9a-f]{32}"));
            isRunning = false;
            clients.forEach(CompletableFuture::join);
        } finally {
            isRunning = false;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "check config ../config/monitoring/prometheus.yml",
                "test rules src/test/resources/monitoring/alerts.test.yml"
            })
    void promtool_finds_no_mistake(String arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments.split(" ")));
        Process promtool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(output).isZero();
    }
}
