package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code start-cache}: one command makes a file from which the JVM takes the classes of the gateway. */
@Tag("long")
class StartCacheIT {

    /** Classes that are only loaded for a request, for the policy, and for the lease port. */
    private static final List<String> EXPECTED = List.of(
            "io.fairgate.spring.forward.UpstreamCall",
            "io.fairgate.config.PolicyReader",
            "io.fairgate.gateway.lease.LeaseRoutes",
            "org.springframework.cloud.gateway.route.RouteDefinitionRouteLocator");

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    StartCacheIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private String made(Path file) throws Exception {
        Started making = fairgate.start(folder, "start-cache", "--output", file.toString());
        assertThat(making.awaitExit()).as(making.out() + making.err()).isZero();
        assertThat(making.err()).isEmpty();
        Matcher command = Pattern.compile("(?m)^ +java (.*) (-XX:\\S+) -jar \\S+fairgate\\.jar serve$")
                .matcher(making.out());
        assertThat(command.find()).as(making.out()).isTrue();
        assertThat(command.group(1)).as("the options of its own JVM").contains("-Xmx256m");
        assertThat(command.group(2)).endsWith("=" + file);
        return command.group(2);
    }

    @Test
    void the_jvm_takes_the_classes_of_the_gateway_from_the_file() throws Exception {
        Path settings = Files.writeString(folder.resolve("application.yml"), "server: { port: no-port }\n");
        String option = made(folder.resolve("made.cache"));
        Files.delete(settings);
        Path log = folder.resolve("classes.log");
        Files.writeString(folder.resolve("fairgate.yml"), TestPolicy.onePool(upstream.url(), "permits: 2"));
        Started gateway = fairgate.start(
                folder,
                Map.of("JDK_JAVA_OPTIONS", option + " -Xlog:class+load:file=" + log),
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--fairgate.leases.enabled=true",
                "--fairgate.leases.port=0");
        try (RawClient client = new RawClient(gateway.port())) {
            assertThat(client.get("/fair/1", "a").readUntil("ok")).startsWith("HTTP/1.1 200");
        }
        List<String> loaded = Files.readAllLines(log);
        assertThat(EXPECTED)
                .allSatisfy(name -> assertThat(loaded)
                        .anySatisfy(line -> assertThat(line).contains(" " + name + " source: shared objects file")));
    }

    @Test
    void it_needs_the_jar() throws Exception {
        String jar = Objects.requireNonNull(System.getProperty("fairgate.jar"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java, "-cp", jar + File.pathSeparator + folder, Fairgate.class.getName(), "start-cache")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isOne();
        assertThat(output.lines())
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith("start-cache: the class path is ")
                        .contains("expected: one jar"));
    }
}
