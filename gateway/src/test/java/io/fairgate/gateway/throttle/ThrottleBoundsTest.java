package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.JSON;
import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Excessive, unusual and hostile calls are answered as documented, and never with 500.
 */
class ThrottleBoundsTest {

    @RegisterExtension
    final RunningThrottle throttle = new RunningThrottle("""
            [semaphores]
            A = 1
            Closed = 0
            Negative = -5
            Huge = 9223372036854775807
            """);

    @ParameterizedTest
    @CsvSource({
        "A, 9223372036854775807, 409",
        "A, -9223372036854775808, 400",
        "A, 9223372036854775808, 422",
        "A, 0.5, 422",
        "A, 1E400, 422",
        "Closed, 1, 409",
        "Closed, 0, 400",
        "Negative, 0, 409",
        "Negative, -5, 400",
        "Huge, 1000001, 409",
        "Huge, 9223372036854775807, 409",
        "Huge, 1000000, 200",
    })
    void a_count_of_any_size_has_an_answer(String semaphore, String count, int status) {
        String peer = throttle.peer();
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/" + semaphore, count)
                        .status())
                .isEqualTo(status);
    }

    @Test
    void a_semaphore_may_declare_more_than_a_pool_can_have_and_shows_what_it_declares() {
        throttle.holder("Huge", 1_000_000);
        assertThat(throttle.remainder("Huge")).isEqualTo(json(200, "9223372036853775807"));
        assertThat(throttle.metric("throttle_max{semaphore=\"Huge\"}")).isEqualTo("9223372036854775807");
        assertThat(throttle.metric("throttle_max{semaphore=\"Negative\"}")).isEqualTo("-5");
        assertThat(throttle.lock(throttle.peer(), "Huge", 1_000_001))
                .isEqualTo(domain(
                        409,
                        "Lock can never be acquired. Lock asks for count 1000001 yet full count is only 1000000."));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/peers/1/%00",
                "/peers/1/%",
                "/peers/1/%zz",
                "/peers/1/%ff%fe",
                "/peers/%2F/A",
                "/peers/1%2FA/A",
                "/peers/1/..",
                "/peers/../restore",
                "/peers/1//",
                "/peers/1/A%2F",
                "/peers/1/A;x=y",
                "/%6eew_peer",
                "/peers/ /A",
                "/peers/1/A?expires_in=%",
                "/peers/1/A?=",
                "/peers/1/A?&&&",
                "/remainder?semaphore=%00%ff",
                "/remainder?%ff",
                "//",
                "/peers/1/A?block_for=1s#x",
                "/peers/1/%F0%9F%92%A9",
                "*",
                "http://[::1",
                "/peers/1/A?\u0001",
                "/\u00e4"
            })
    void no_path_causes_a_server_error(String target) throws Exception {
        for (String method : new String[] {"GET", "PUT", "DELETE", "POST", "OPTIONS", "HEAD", "BREW"}) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), throttle.port())) {
                client.setSoTimeout(30_000);
                client.getOutputStream()
                        .write(
                                "%s %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1"
                                        .formatted(method, target)
                                        .getBytes(StandardCharsets.ISO_8859_1));
                assertThat(statusOf(client.getInputStream())).as(method).startsWith("HTTP/1.1 4");
            }
        }
    }

    private static String statusOf(InputStream in) throws Exception {
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1)
                .lines()
                .findFirst()
                .orElse("nothing");
    }

    @Test
    void no_body_causes_a_server_error() {
        String deep = "[".repeat(100_000);
        String huge = "{\"expires_in\":\"" + "9".repeat(1_000_000) + "s\"}";
        String fields = "{" + "\"a\":1,".repeat(200_000) + "\"expires_in\":\"5m\"}";
        String digits = "1".repeat(1_900_000);
        for (String body :
                new String[] {deep, "{\"x\":" + deep, huge, digits, "-" + digits, "\ud800", "\"\\ud800\"", "\ufeff1"}) {
            for (String path : new String[] {"/peers/1/A", "/peers/1"}) {
                assertThat(throttle.ask("PUT", path, body).status()).as(path).isIn(400, 422);
            }
            assertThat(throttle.ask("POST", "/restore", body).status()).isIn(400, 422);
        }
        assertThat(throttle.ask("POST", "/new_peer", fields).status()).isEqualTo(200);
        assertThat(throttle.askAs(
                        JSON, "POST", "/restore", "{\"acquired\":{\"\":1},\"peer_id\":1,\"expires_in\":\"1s\"}"))
                .isEqualTo(domain(400, "Unknown semaphore"));
    }

    @Test
    void a_body_that_is_not_utf_8_is_refused_as_json() throws Exception {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), throttle.port())) {
            client.setSoTimeout(30_000);
            client.getOutputStream()
                    .write(
                            "POST /new_peer HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{\"expires_in\":\"\u00ff5m\"}"
                                    .getBytes(StandardCharsets.ISO_8859_1));
            assertThat(statusOf(client.getInputStream())).startsWith("HTTP/1.1 400");
        }
    }

    @Tag("long")
    @Test
    void of_a_hundred_thousand_peers_a_thousand_wait_in_order() throws Exception {
        String holder = throttle.holder("A", 1);
        List<String> created =
                pipelined(IntStream.range(0, 100_000).mapToObj(i -> post("/new_peer", "{\"expires_in\":\"1h\"}")));
        List<String> waiting = created.subList(0, 1_000);
        assertThat(pipelined(waiting.stream().map(peer -> put("/peers/" + peer + "/A", "1"))))
                .isEqualTo(waiting);
        assertThat(throttle.metric("throttle_pending{semaphore=\"A\"}")).isEqualTo("1000");
        assertThat(throttle.ask("GET", "/peers/").body().split(",")).hasSize(100_001);
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired(created.get(0))).isEqualTo(json(200, "true"));
        assertThat(throttle.isAcquired(created.get(1))).isEqualTo(json(200, "false"));
        assertThat(throttle.isAcquired(created.get(999))).isEqualTo(json(200, "false"));
        throttle.time.advanceBy(Duration.ofHours(1));
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[]"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
    }

    private static String post(String path, String body) {
        return raw("POST", path, body);
    }

    private static String put(String path, String body) {
        return raw("PUT", path, body);
    }

    private static String raw(String method, String path, String body) {
        return "%s %s HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(method, path, body.length(), body);
    }

    /** Sends all on one connection without waiting for answers; returns their bodies in order. */
    private List<String> pipelined(Stream<String> requests) throws Exception {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), throttle.port())) {
            client.setSoTimeout(60_000);
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    OutputStream out = new BufferedOutputStream(client.getOutputStream());
                    for (String request : (Iterable<String>) requests::iterator) {
                        out.write(request.getBytes(StandardCharsets.US_ASCII));
                    }
                    out.write("GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            String all = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            sent.join();
            return Pattern.compile("\r\n\r\n(\\d+)")
                    .matcher(all)
                    .results()
                    .map(number -> number.group(1))
                    .toList();
        }
    }

    @Test
    void the_number_of_peers_is_bounded_and_later_ones_may_retry() {
        RunningThrottle two = new RunningThrottle(
                new ThrottleSettings(2, 2, Duration.ofHours(1), Duration.ofDays(1), Duration.ofSeconds(30)),
                "[semaphores]\nA = 1\n");
        try {
            String first = two.peer();
            two.peer();
            Seen full = domain(503, "Too many peers.");
            assertThat(two.ask("POST", "/new_peer", "{\"expires_in\":\"5m\"}")).isEqualTo(full);
            assertThat(two.ask("POST", "/restore", "{\"expires_in\":\"5m\",\"peer_id\":1,\"acquired\":{}}"))
                    .isEqualTo(full);
            assertThat(two.ask("PUT", "/peers/" + first, "{\"expires_in\":\"5m\"}"))
                    .isEqualTo(OK);
            two.ask("DELETE", "/peers/" + first);
            two.peer();
        } finally {
            two.end();
        }
    }

    @Test
    void heartbeats_keep_no_peer_for_ever() {
        RunningThrottle daily = new RunningThrottle(
                new ThrottleSettings(10, 10, Duration.ofHours(24), Duration.ofHours(30), Duration.ofSeconds(30)),
                "[semaphores]\nA = 1\n");
        try {
            String peer = daily.peer("20h");
            daily.time.advanceBy(Duration.ofHours(19));
            assertThat(daily.ask("PUT", "/peers/" + peer, "{\"expires_in\":\"20h\"}"))
                    .isEqualTo(OK);
            daily.time.advanceBy(Duration.ofHours(11));
            assertThat(daily.isAcquired(peer)).isEqualTo(RunningThrottle.UNKNOWN_PEER);
        } finally {
            daily.end();
        }
    }

    @Test
    void invalid_settings_are_refused() {
        Duration day = Duration.ofDays(1);
        assertThatThrownBy(() -> new ThrottleSettings(0, 0, day, day, day))
                .hasMessage("most-peers: 0 in all, 0 of one (expected: >= 1, and no more of one)");
        assertThatThrownBy(() -> new ThrottleSettings(1, 2, day, day, day))
                .hasMessage("most-peers: 1 in all, 2 of one (expected: >= 1, and no more of one)");
        assertThatThrownBy(() -> new ThrottleSettings(1, 1, day, day, Duration.ofSeconds(-1)))
                .hasMessage("longest-block: PT-1S (expected: 0 to 365 days)");
        assertThatThrownBy(() -> new ThrottleSettings(1, 1, Duration.ofDays(366), day, day))
                .hasMessage("longest-term: PT8784H (expected: 0 to 365 days)");
    }
}
