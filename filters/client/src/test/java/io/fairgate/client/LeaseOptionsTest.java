package io.fairgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LeaseOptionsTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("orders");

    private static void assertRefused(Runnable making, String why) {
        assertThatIllegalArgumentException().isThrownBy(making::run).withMessage(why);
    }

    @Test
    void bad_options_say_what_was_expected() {
        assertRefused(() -> LeaseOptions.of("orders", 0), "permits: 0 (expected: >= 1)");
        assertRefused(() -> LeaseOptions.of(" "), "pools: a blank name (expected: names of pools)");
        assertRefused(() -> LeaseOptions.ofAll(Map.of()), "pools: none (expected: at least one)");
        assertRefused(() -> OPTIONS.withTtl(Duration.ofMillis(99)), "ttl: PT0.099S (expected: PT0.1S to PT24H)");
        assertRefused(() -> OPTIONS.withTtl(Duration.ofHours(25)), "ttl: PT25H (expected: PT0.1S to PT24H)");
        assertRefused(() -> OPTIONS.withMaxWait(Duration.ofSeconds(-1)), "maxWait: PT-1S (expected: PT0S to PT24H)");
        assertRefused(() -> OPTIONS.withHolder("a b"), "holder: a b (expected: up to 64 of [A-Za-z0-9._-])");
        assertRefused(
                () -> OPTIONS.withHolder("x".repeat(65)),
                "holder: %s (expected: up to 64 of [A-Za-z0-9._-])".formatted("x".repeat(65)));
    }

    @Test
    void options_are_a_value() {
        Map<String, Integer> pools = new HashMap<>(Map.of("a", 1));
        LeaseOptions options = LeaseOptions.ofAll(pools);
        pools.put("b", 2);
        assertThat(options.pools()).containsExactly(Map.entry("a", 1));
        assertThat(options.withHolder("h").withTtl(Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(2)))
                .isEqualTo(new LeaseOptions(Map.of("a", 1), Duration.ofSeconds(1), Duration.ofSeconds(2), "h"));
    }

    @Test
    void a_bad_server_says_what_was_expected() {
        URI good = URI.create("http://localhost:8000");
        assertRefused(
                () -> LeaseClientSettings.at(URI.create("ftp://localhost")),
                "uri: ftp://localhost (expected: http://HOST:PORT or https://HOST:PORT)");
        assertRefused(
                () -> LeaseClientSettings.at(URI.create("http://localhost:8000?a=b")),
                "uri: http://localhost:8000?a=b (expected: http://HOST:PORT or https://HOST:PORT)");
        assertRefused(
                () -> LeaseClientSettings.at(URI.create("http://acme:secret@localhost")),
                "uri: with user information (expected: a credential in a header)");
        assertRefused(() -> LeaseClientSettings.at(good).withConnections(0), "connections: 0 (expected: >= 1)");
        assertRefused(
                () -> LeaseClientSettings.at(good).withCredential(" ", () -> "x"),
                "header: blank (expected: the name of a header)");
    }
}
