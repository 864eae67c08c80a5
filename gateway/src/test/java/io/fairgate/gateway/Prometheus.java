package io.fairgate.gateway;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Prometheus, as the system has it, that scrapes one gateway each second with the rules of {@code config/monitoring}. It ends with the
 * test, also when the JVM is killed.
 */
final class Prometheus implements AutoCloseable {

    static final Path FOLDER = Path.of("..", "config", "monitoring");

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Process process;
    private final int port = FrontProxy.freePort();

    /** @param folder for its files */
    Prometheus(Path folder, int managementPort) throws IOException {
        Path settings = folder.resolve("prometheus.yml");
        Files.writeString(
                settings,
                Files.readString(FOLDER.resolve("prometheus.yml"))
                        .replace("15s", "1s")
                        .replace("recording.yml", rules("recording.yml"))
                        .replace("alerts.yml", rules("alerts.yml"))
                        .replace("localhost:8081", "127.0.0.1:" + managementPort));
        process = new ProcessBuilder(
                        "setpriv",
                        "--pdeathsig",
                        "KILL",
                        "prometheus",
                        "--config.file=" + settings,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port,
                        "--enable-feature=exemplar-storage",
                        "--log.level=warn")
                .inheritIO()
                .start();
        Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(this::isReady);
    }

    private static String rules(String file) {
        return FOLDER.resolve(file).toAbsolutePath().normalize().toString();
    }

    private boolean isReady() {
        return Answer.to("http://127.0.0.1:" + port + "/-/ready").status() == 200;
    }

    /** The values of all series that the query selects now, without those that are not a number. */
    List<Double> ask(String query) {
        return api("query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8))
                .path("result")
                .valueStream()
                .map(series -> Double.parseDouble(series.path("value").path(1).asString()))
                .filter(value -> !value.isNaN())
                .toList();
    }

    /** The traces that the series of the query name in the last minute. */
    Set<String> traces(String query) {
        long now = Instant.now().getEpochSecond();
        String selected = "query_exemplars?query=%s&start=%d&end=%d"
                .formatted(URLEncoder.encode(query, StandardCharsets.UTF_8), now - 60, now + 1);
        return api(selected)
                .valueStream()
                .flatMap(series -> series.path("exemplars").valueStream())
                .map(exemplar -> exemplar.path("labels").path("trace_id").asString())
                .collect(Collectors.toSet());
    }

    /** The names of the alerts that wait or fire. */
    Set<String> alerts() {
        return api("alerts")
                .path("alerts")
                .valueStream()
                .map(alert -> alert.path("labels").path("alertname").asString())
                .collect(Collectors.toSet());
    }

    private JsonNode api(String request) {
        Answer answer = Answer.to("http://127.0.0.1:" + port + "/api/v1/" + request);
        if (answer.status() != 200) {
            throw new IllegalArgumentException(request + ": " + answer.body());
        }
        return JSON.readTree(answer.body()).path("data");
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
