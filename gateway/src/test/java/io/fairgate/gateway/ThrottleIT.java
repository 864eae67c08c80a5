package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code throttle} as a process: its options, its file, its messages and its end. */
class ThrottleIT {

    private static final Pattern SERVES =
            Pattern.compile("throttle: (\\d+) semaphores, on port (\\d+) of 127\\.0\\.0\\.1");
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    ThrottleIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private static int port(Started process) {
        return Integer.parseInt(process.awaitOutput(SERVES).group(2));
    }

    private static CompletableFuture<HttpResponse<String>> ask(int port, String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, BodyPublishers.ofString(body))
                .header("Content-Type", "application/json")
                .build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString());
    }

    private static String body(int port, String method, String path, String body) {
        return ask(port, method, path, body).join().body();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-c", "--configuration"})
    void it_serves_the_semaphores_of_its_file(String option) throws Exception {
        Files.writeString(folder.resolve("some.toml"), "[semaphores]\nA = 1\n\"/&\" = { max = 7, level = 1 }\n");
        Started process =
                fairgate.start(folder, "throttle", option, "some.toml", "--address", "127.0.0.1", "--port", "0");
        int port = port(process);
        assertThat(body(port, "GET", "/", "")).isEqualTo("Hello from Throttle!");
        assertThat(body(port, "GET", "/remainder?semaphore=%2F%26", "")).isEqualTo("7");
        String peer = body(port, "POST", "/new_peer", "{\"expires_in\":\"1m\"}");
        assertThat(ask(port, "PUT", "/peers/" + peer + "/A?block_for=10s", "1")
                        .join()
                        .statusCode())
                .isEqualTo(200);
        assertThat(process.err()).isEmpty();
    }

    @Test
    void a_signal_ends_it_at_once_with_0_and_answers_blocked_calls() throws Exception {
        Files.writeString(folder.resolve("throttle.toml"), "[semaphores]\nA = 1\n");
        Started process = fairgate.start(folder, "throttle", "--port", "0");
        int port = port(process);
        String holder = body(port, "POST", "/new_peer", "{\"expires_in\":\"1m\"}");
        assertThat(body(port, "PUT", "/peers/" + holder + "/A", "1")).isEqualTo(holder);
        String blocked = body(port, "POST", "/new_peer", "{\"expires_in\":\"1m\"}");
        CompletableFuture<HttpResponse<String>> answer =
                ask(port, "PUT", "/peers/" + blocked + "/A?block_for=30s", "1");
        Awaitility.await()
                .until(() -> body(port, "GET", "/metrics", "").contains("throttle_pending{semaphore=\"A\"} 1"));
        process.terminate();
        assertThat(answer.join().statusCode()).isEqualTo(503);
        assertThat(answer.join().body()).isEqualTo("Shutting down.");
        assertThat(process.awaitExit()).isZero();
        assertThat(process.err()).isEmpty();
    }

    @Tag("long")
    @Test
    void without_a_file_it_reports_that_and_has_no_semaphores() throws Exception {
        Started unnamed = fairgate.start(folder, "throttle", "--port", "0");
        Started named = fairgate.start(folder, "throttle", "-c", "no/such.toml", "--port", "0");
        assertThat(body(port(unnamed), "GET", "/remainder?semaphore=A", "")).isEqualTo("Unknown semaphore");
        assertThat(unnamed.err().lines())
                .containsExactly("throttle.toml not found => Using empty default configuration.");
        assertThat(named.awaitOutput(SERVES).group(1)).isEqualTo("0");
        assertThat(named.err().lines()).containsExactly("no/such.toml not found => Using empty default configuration.");
    }

    @Tag("long")
    @Test
    void a_malformed_configuration_is_reported_with_its_line() throws Exception {
        Files.writeString(folder.resolve("throttle.toml"), "[semaphores]\nA = 1\nB = \n");
        Started process = fairgate.start(folder, "throttle", "--port", "0");
        assertThat(process.awaitExit()).isOne();
        assertThat(process.err().lines())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("throttle.toml:3: Unexpected end of line"));
        assertThat(process.out()).isEmpty();
    }

    @Tag("long")
    @Test
    void a_port_in_use_and_a_foreign_address_are_reported_in_one_line() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Started inUse = fairgate.start(folder, "throttle", "--port", Integer.toString(taken.getLocalPort()));
            Started elsewhere = fairgate.start(folder, "throttle", "--address", "192.0.2.1", "--port", "0");
            Started tooHigh = fairgate.start(folder, "throttle", "--port", "65536");
            for (Started process : new Started[] {inUse, elsewhere, tooHigh}) {
                assertThat(process.awaitExit()).isOne();
                assertThat(process.out()).isEmpty();
                assertThat(process.err().lines().skip(1)).hasSize(1);
            }
            assertThat(inUse.err()).contains("Cannot bind 127.0.0.1:" + taken.getLocalPort() + " (address in use");
            assertThat(tooHigh.err()).contains("--port: 65536 (expected: 0 to 65535)");
        }
    }

    @Tag("long")
    @Test
    void the_log_level_is_set_by_the_file_and_before_that_by_the_environment() throws Exception {
        Files.writeString(folder.resolve("throttle.toml"), "[logging.stderr]\nlevel = \"DEBUG\"\n");
        Started byFile = fairgate.start(folder, "throttle", "--port", "0");
        Started byEnvironment = fairgate.start(folder, Map.of("THROTTLE_LOG", "ERROR"), "throttle", "--port", "0");
        port(byFile);
        port(byEnvironment);
        assertThat(byFile.err()).contains(" DEBUG ");
        assertThat(byEnvironment.err()).isEmpty();
    }

    @Tag("long")
    @Test
    void an_unknown_level_is_reported_and_the_server_still_serves() throws Exception {
        Files.writeString(folder.resolve("throttle.toml"), "[logging.stderr]\nlevel = \"LOUD\"\n");
        Started byFile = fairgate.start(folder, "throttle", "--port", "0");
        Started byEnvironment = fairgate.start(folder, Map.of("THROTTLE_LOG", "quiet"), "throttle", "--port", "0");
        String expected = " (expected: one of OFF, ERROR, WARN, INFO, DEBUG, TRACE); WARN is used.";
        port(byFile);
        port(byEnvironment);
        assertThat(byFile.err().lines()).containsExactly("throttle.toml: logging.stderr.level: LOUD" + expected);
        assertThat(byEnvironment.err().lines()).containsExactly("THROTTLE_LOG: quiet" + expected);
    }
}
