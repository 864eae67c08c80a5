package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** The files in config/deploy, as far as they can be checked without what they are for. */
class DeployFilesTest {

    private static final Path DEPLOY = Path.of("deploy");

    private static JsonElement json(Path file, String kind) throws IOException {
        for (Object document : new Yaml().loadAll(Files.readString(file))) {
            JsonElement json = new Gson().toJsonTree(document);
            if (json.getAsJsonObject().get("kind").getAsString().equals(kind)) {
                return json;
            }
        }
        throw new IllegalStateException(file + " has no " + kind);
    }

    private static final Path KUBERNETES = DEPLOY.resolve("kubernetes/fairgate.yaml");

    /** By the classes that Kubernetes generates from its own description: they refuse unknown and missing keys. */
    @Test
    void kubernetes_knows_every_key() throws IOException {
        for (Object document : new Yaml().loadAll(Files.readString(KUBERNETES))) {
            validate(new Gson().toJsonTree(document));
        }
    }

    private static void validate(JsonElement json) throws IOException {
        switch (json.getAsJsonObject().get("kind").getAsString()) {
            case "ConfigMap" -> V1ConfigMap.validateJsonElement(json);
            case "Deployment" -> V1Deployment.validateJsonElement(json);
            case "Service" -> V1Service.validateJsonElement(json);
            case "PodDisruptionBudget" -> V1PodDisruptionBudget.validateJsonElement(json);
            case "NetworkPolicy" -> V1NetworkPolicy.validateJsonElement(json);
            default -> throw new IllegalArgumentException("no check of " + json);
        }
    }

    /** Twice the time that a phase of the shutdown may take, which is a minute. */
    @Test
    void a_pod_has_time_to_finish_its_requests() throws IOException {
        int seconds = json(KUBERNETES, "Deployment")
                .getAsJsonObject()
                .getAsJsonObject("spec")
                .getAsJsonObject("template")
                .getAsJsonObject("spec")
                .get("terminationGracePeriodSeconds")
                .getAsInt();
        assertThat(seconds).isGreaterThan(120);
        assertThat(Files.readString(DEPLOY.resolve("systemd/fairgate.service"))).contains("\nTimeoutStopSec=130s\n");
        assertThat(Files.readString(DEPLOY.resolve("docker/compose.yaml"))).contains("stop_grace_period: 130s\n");
    }

    @Test
    void the_policies_are_accepted() throws IOException {
        String policy = json(KUBERNETES, "ConfigMap")
                .getAsJsonObject()
                .getAsJsonObject("data")
                .get("fairgate.yml")
                .getAsString();
        assertThat(PolicyReader.read("ConfigMap", policy).warnings()).isEmpty();
        assertThat(PolicyReader.read(DEPLOY.resolve("docker/policy/fairgate.yml"))
                        .warnings())
                .isEmpty();
    }

    @Test
    void selectors_find_the_pods_and_the_service() throws IOException {
        for (Object document : new Yaml().loadAll(Files.readString(KUBERNETES))) {
            assertThat(String.valueOf(document)).contains("app.kubernetes.io/name=fairgate");
        }
        String monitor = Files.readString(DEPLOY.resolve("kubernetes/service-monitor.yaml"));
        assertThat(monitor).contains("app.kubernetes.io/component: management", "port: management");
        assertThat(Files.readString(KUBERNETES)).contains("app.kubernetes.io/component: management");
    }

    static Stream<String> filesOfCompose() throws IOException {
        Map<String, Map<String, Map<String, Object>>> compose =
                new Yaml().load(Files.readString(DEPLOY.resolve("docker/compose.yaml")));
        List<String> files = new ArrayList<>();
        for (Map<String, Object> service : services(compose).values()) {
            if (service.get("volumes") instanceof List<?> volumes) {
                volumes.forEach(volume -> files.add(String.valueOf(volume).split(":", 2)[0]));
            }
        }
        return files.stream();
    }

    private static Map<String, Map<String, Object>> services(Map<String, Map<String, Map<String, Object>>> compose) {
        return compose.getOrDefault("services", Map.of());
    }

    @ParameterizedTest
    @MethodSource("filesOfCompose")
    void compose_mounts_files_that_exist(String file) {
        assertThat(DEPLOY.resolve("docker").resolve(file)).exists();
    }

    /** The rules that Prometheus loads are those that it is given. */
    @Test
    void prometheus_in_compose_scrapes_as_in_the_example() throws IOException {
        String own = Files.readString(DEPLOY.resolve("docker/prometheus.yml"));
        String example = Files.readString(Path.of("monitoring/prometheus.yml"));
        String begin = "global:";
        assertThat(own.substring(own.indexOf(begin)).replace("fairgate:8081", "localhost:8081"))
                .isEqualTo(example.substring(example.indexOf(begin)));
    }

    /** Not on a system without systemd, such as macOS; the reason is in the report. */
    @Test
    void systemd_accepts_the_unit() throws Exception {
        Path tool = Path.of("/usr/bin/systemd-analyze");
        assumeTrue(Files.isExecutable(tool), "there is no systemd-analyze");
        Path unit = DEPLOY.resolve("systemd/fairgate.service").toAbsolutePath();
        // It looks for the programs of the unit, and this machine need not have Java there.
        Path copy = Files.createTempDirectory("unit").resolve("fairgate.service");
        Files.writeString(copy, Files.readString(unit).replace("/usr/bin/java", "/usr/bin/env"));
        assertThat(output(tool.toString(), "verify", copy.toString())).isEmpty();
        String exposure = output(tool.toString(), "security", "--offline=true", copy.toString());
        var level = Pattern.compile("Overall exposure level for fairgate.service: ([0-9.]+)")
                .matcher(exposure);
        assertThat(level.find()).as(exposure).isTrue();
        assertThat(Double.parseDouble(level.group(1))).isLessThan(2);
    }

    private static String output(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
