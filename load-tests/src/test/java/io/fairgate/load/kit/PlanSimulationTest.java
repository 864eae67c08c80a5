package io.fairgate.load.kit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans against a gateway of this test, which counts what it gets. Each run is a process of its own and ends by itself. */
class PlanSimulationTest {

    private final Path folder;
    private final Map<String, AtomicInteger> received = new ConcurrentHashMap<>();
    private final AtomicInteger inProgress = new AtomicInteger();
    private final AtomicInteger mostInProgress = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer gateway;

    PlanSimulationTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @BeforeEach
    void start() throws IOException {
        gateway = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        gateway.setExecutor(threads);
        gateway.createContext("/", this::answer);
        gateway.start();
    }

    @AfterEach
    void stop() {
        gateway.stop(0);
        threads.shutdownNow();
    }

    /** 200 after 10 ms; 503 for every second request of {@code some}, and 500 for {@code broken}. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            mostInProgress.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
            String tenant =
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("X-Tenant-Id"), "none");
            int number =
                    received.computeIfAbsent(tenant, any -> new AtomicInteger()).incrementAndGet();
            int status = tenant.equals("broken") ? 500 : tenant.equals("some") && number % 2 == 0 ? 503 : 200;
            TimeUnit.MILLISECONDS.sleep(10);
            inProgress.decrementAndGet(); // Before the client can send the next one.
            exchange.sendResponseHeaders(status, -1);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private record Run(int exitCode, String output, RunResult result) {}

    private Run run(String plan) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("test.yml"), plan);
        Path result = folder.resolve("result.json");
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx256m",
                        "--add-opens=java.base/java.lang=ALL-UNNAMED", // as its Maven plugin starts it
                        "-Dhttps.proxyHost=127.0.0.1",
                        "-Dhttps.proxyPort=9",
                        "-Djava.util.prefs.userRoot=" + folder,
                        "-Dplan=" + file,
                        "-Dresult=" + result,
                        "-Dgateway=http://127.0.0.1:" + gateway.getAddress().getPort(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "io.gatling.app.Gatling",
                        "-s",
                        PlanSimulation.class.getName(),
                        "-rf",
                        folder.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(3, TimeUnit.MINUTES))
                    .as("the end of the run")
                    .isTrue();
            assertThat(result).as(Files.readString(output)).exists();
            return new Run(process.exitValue(), Files.readString(output), RunResult.read(result));
        } finally {
            process.destroyForcibly();
        }
    }

    private long received(String tenant) {
        return received.getOrDefault(tenant, new AtomicInteger()).get();
    }

    @Test
    void closed_connections_send_one_request_after_the_other() throws Exception {
        Run run = run("""
                load: 8
                pause-after-refusal: 20ms
                stages:
                  - { for: 1s, measured: false }
                  - { for: 2s }
                  - { level: 0, for: 1s }
                tenants:
                  each:
                    headers: { X-Tenant-Id: each }
                    path: /a
                    load: 3
                  some:
                    headers: { X-Tenant-Id: some }
                    path: /b
                    expect: { refused: 60 }
                """);
        assertThat(run.exitCode()).as(run.output()).isZero();
        assertThat(mostInProgress).hasValueLessThanOrEqualTo(8);
        assertThat(run.result().stages()).hasSize(3);
        assertThat(run.result().stages().get(2).all().sent())
                .as("requests in a stage without connections, but for those at its very beginning")
                .isLessThanOrEqualTo(8);
        for (String tenant : new String[] {"each", "some"}) {
            long sent = run.result().stages().stream()
                    .mapToLong(stage ->
                            Objects.requireNonNull(stage.tenants().get(tenant)).sent())
                    .sum();
            assertThat(sent).as(tenant).isEqualTo(received(tenant));
            assertThat(run.result().of(tenant).answered()).isPositive();
        }
        Figures some = run.result().of("some");
        assertThat(some.refused()).isBetween(some.answered() - 5, some.answered() + 5);
        assertThat(some.statuses()).containsOnlyKeys("200", "503");
        assertThat(run.result().of("each").refused()).isZero();
        assertThat(run.result().verdicts())
                .allSatisfy(verdict -> assertThat(verdict.holds()).isTrue());
    }

    @Test
    void requests_of_the_open_model_come_at_their_rate_and_what_is_not_expected_fails_the_run() throws Exception {
        Run run = run("""
                model: open
                load: 60
                stages:
                  - { for: 2s }
                tenants:
                  each:
                    headers: { X-Tenant-Id: each }
                    path: /a
                    expect: { share: 50 }
                  some:
                    headers: { X-Tenant-Id: some }
                    path: /b
                  broken:
                    headers: { X-Tenant-Id: broken }
                    path: /c
                """);
        assertThat(run.exitCode()).as(run.output()).isNotZero();
        for (String tenant : new String[] {"each", "some", "broken"}) {
            assertThat(received(tenant)).as(tenant).isEqualTo(40);
            assertThat(run.result().of(tenant).sent()).isEqualTo(40);
        }
        assertThat(run.result().of("broken").failed()).isEqualTo(40);
        assertThat(run.result().verdicts())
                .filteredOn(verdict -> !verdict.holds())
                .extracting(Verdict::expected)
                .containsExactly(
                        "each: share of answers, 50 % within a tolerance of 10 %",
                        "some: refused, at most 0 %", "broken: at least one answer", "broken: failed, at most 0 %");
    }
}
