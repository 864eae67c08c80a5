package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.JSON;
import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.TEXT;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static io.fairgate.gateway.throttle.RunningThrottle.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every route of the protocol with every answer that it has: status, content type and body.
 */
class ThrottleRoutesTest {

    private static final String FIVE_MINUTES = "{\"expires_in\":\"5m\"}";

    @RegisterExtension
    final RunningThrottle throttle = new RunningThrottle("""
            [semaphores]
            A = 1
            Three = 3
            "/&" = 1
            is_acquired = 1
            High = { max = 2, level = 1 }
            """);

    private HttpResponse<String> raw(String method, String path, String contentType, String body) {
        return RunningThrottle.send(RunningThrottle.request(throttle.port(), method, path, contentType, body))
                .join();
    }

    // ---- the server ----

    @Test
    void get_root_says_hello() {
        assertThat(throttle.ask("GET", "/")).isEqualTo(text(200, "Hello from Throttle!"));
    }

    @Test
    void get_health_is_ok() {
        assertThat(throttle.ask("GET", "/health")).isEqualTo(OK);
    }

    @Test
    void get_version_is_that_of_the_protocol() {
        assertThat(throttle.ask("GET", "/version")).isEqualTo(text(200, "0.5.13"));
    }

    @Test
    void get_favicon_is_an_icon() {
        HttpResponse<String> icon = raw("GET", "/favicon.ico", "", "");
        assertThat(icon.statusCode()).isEqualTo(200);
        assertThat(icon.headers().firstValue("Content-Type")).contains("image/x-icon");
        assertThat(icon.body()).startsWith("\0\0\u0001\0");
    }

    @Test
    void get_metrics_shows_every_semaphore() {
        String one = throttle.holder("Three", 2);
        String two = throttle.peer();
        throttle.lock(two, "Three", 3);
        throttle.time.advanceBy(Duration.ofMillis(7_900));
        Seen metrics = throttle.ask("GET", "/metrics");
        assertThat(metrics.contentType()).isEqualTo(TEXT);
        assertThat(metrics.body())
                .contains(
                        "# HELP throttle_acquired Sum of all acquired locks.\n# TYPE throttle_acquired gauge\n",
                        "# HELP throttle_longest_pending_sec Time the longest pending peer is waiting until now, to acquire a lock to a semaphore.\n# TYPE throttle_longest_pending_sec gauge\n",
                        "# HELP throttle_max Maximum allowed lock count for this semaphore.\n# TYPE throttle_max gauge\n",
                        "# HELP throttle_pending Sum of all pending locks\n# TYPE throttle_pending gauge\n",
                        "throttle_acquired{semaphore=\"Three\"} 2\n",
                        "throttle_longest_pending_sec{semaphore=\"Three\"} 7\n",
                        "throttle_longest_pending_sec{semaphore=\"A\"} 0\n",
                        "throttle_max{semaphore=\"Three\"} 3\n",
                        "throttle_max{semaphore=\"/&\"} 1\n",
                        "throttle_pending{semaphore=\"Three\"} 3\n");
        assertThat(metrics.body().lines().filter(line -> line.startsWith("throttle_max{")))
                .hasSizeGreaterThan(2)
                .isSorted();
        assertThat(throttle.remainder("Three")).isEqualTo(json(200, "1"));
        assertThat(one).isNotEqualTo(two);
    }

    @Test
    void head_is_answered_like_get_without_a_body() {
        HttpResponse<String> head = raw("HEAD", "/", "", "");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Type")).contains(TEXT);
        assertThat(head.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/peers", "/nothing", "/new_peer/", "/peers/1/A/", "/peers//A", "/freeze"})
    void every_other_path_is_not_found(String path) {
        assertThat(throttle.ask("GET", path))
                .isEqualTo(new Seen(404, "text/html; charset=utf-8", "Sorry, the requested page does not exist."));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | / | GET, HEAD",
                "DELETE | /health | GET, HEAD",
                "PUT | /new_peer | POST",
                "GET | /restore | POST",
                "POST | /peers/ | GET, HEAD",
                "GET | /peers/1 | DELETE, PUT",
                "POST | /peers/1/A | DELETE, PUT",
                "GET | /remove_expired | POST",
            })
    void another_method_is_405_with_the_allowed_methods(String method, String path, String allowed) {
        HttpResponse<String> answer = raw(method, path, "", "");
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains(allowed);
        assertThat(answer.body()).isEmpty();
    }

    // ---- peers ----

    @Test
    void post_new_peer_tells_the_number_of_a_peer() {
        Seen created = throttle.ask("POST", "/new_peer", FIVE_MINUTES);
        assertThat(created).isEqualTo(json(200, created.body()));
        assertThat(Long.toUnsignedString(Long.parseUnsignedLong(created.body())))
                .isEqualTo(created.body());
        assertThat(throttle.peer()).isNotEqualTo(created.body());
    }

    @Test
    void get_peers_lists_their_numbers() {
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[]"));
        String peer = throttle.peer();
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[{\"id\":" + peer + "}]"));
        throttle.peer();
        assertThat(throttle.ask("GET", "/peers/").body()).matches("\\[\\{\"id\":\\d+},\\{\"id\":\\d+}]");
    }

    @Test
    void put_peer_is_a_heartbeat_which_counts_from_now_and_may_also_shorten() {
        String peer = throttle.peer("10s");
        throttle.time.advanceBy(Duration.ofSeconds(9));
        assertThat(throttle.ask("PUT", "/peers/" + peer, "{\"expires_in\":\"20s\"}"))
                .isEqualTo(OK);
        throttle.time.advanceBy(Duration.ofSeconds(19));
        assertThat(throttle.ask("PUT", "/peers/" + peer, "{\"expires_in\":\"1s\"}"))
                .isEqualTo(OK);
        throttle.time.advanceBy(Duration.ofSeconds(1));
        assertThat(throttle.ask("PUT", "/peers/" + peer, FIVE_MINUTES)).isEqualTo(UNKNOWN_PEER);
        String other = throttle.peer();
        assertThat(throttle.ask("PUT", "/peers/" + other, "{\"expires_in\":\"0s\"}"))
                .isEqualTo(OK);
        assertThat(throttle.ask("PUT", "/peers/" + other, FIVE_MINUTES)).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void delete_peer_releases_it_and_an_unknown_peer_is_no_error() {
        String peer = throttle.peer();
        assertThat(throttle.ask("DELETE", "/peers/" + peer)).isEqualTo(json(200, "\"Peer released\""));
        assertThat(throttle.ask("DELETE", "/peers/" + peer)).isEqualTo(json(200, "\"Peer not found\""));
    }

    @Test
    void post_remove_expired_has_nothing_to_do() {
        throttle.peer("0s");
        assertThat(throttle.ask("POST", "/remove_expired")).isEqualTo(json(200, "0"));
    }

    // ---- locks ----

    @Test
    void put_lock_acquires_or_is_pending_and_tells_the_peer() {
        String first = throttle.peer();
        String second = throttle.peer();
        assertThat(throttle.lock(first, "A", 1)).isEqualTo(acquired(first));
        assertThat(throttle.lock(second, "A", 1)).isEqualTo(pending(second));
    }

    @Test
    void a_lock_for_a_peer_that_expires_at_once_is_acquired_and_gone() {
        String peer = throttle.peer();
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?expires_in=0ms", "1"))
                .isEqualTo(acquired(peer));
        assertThat(throttle.ask("PUT", "/peers/" + peer, FIVE_MINUTES)).isEqualTo(UNKNOWN_PEER);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
    }

    @Test
    void delete_lock_releases_it_and_may_be_repeated() {
        String peer = throttle.holder("A", 1);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
        assertThat(throttle.ask("DELETE", "/peers/" + peer + "/A")).isEqualTo(OK);
        assertThat(throttle.ask("DELETE", "/peers/" + peer + "/A")).isEqualTo(OK);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
    }

    @Test
    void delete_lock_looks_for_the_semaphore_before_the_peer() {
        assertThat(throttle.ask("DELETE", "/peers/1/Nope")).isEqualTo(domain(400, "Unknown semaphore"));
        assertThat(throttle.ask("DELETE", "/peers/1/A")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void get_is_acquired_is_false_only_while_a_lock_is_pending() {
        String holder = throttle.holder("A", 1);
        String waiting = throttle.peer();
        assertThat(throttle.isAcquired(waiting)).isEqualTo(json(200, "true"));
        throttle.lock(waiting, "A", 1);
        assertThat(throttle.isAcquired(waiting)).isEqualTo(json(200, "false"));
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired(waiting)).isEqualTo(json(200, "true"));
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void get_remainder_is_a_number_and_needs_the_name_of_a_semaphore() {
        assertThat(throttle.remainder("Three")).isEqualTo(json(200, "3"));
        assertThat(throttle.remainder("%2F%26")).isEqualTo(json(200, "1"));
        assertThat(throttle.remainder("Nope")).isEqualTo(domain(400, "Unknown semaphore"));
        assertThat(throttle.ask("GET", "/remainder"))
                .isEqualTo(text(400, "Failed to deserialize query string: missing field `semaphore`"));
        assertThat(throttle.ask("GET", "/remainder?semaphore=A&semaphore=A"))
                .isEqualTo(text(400, "Failed to deserialize query string: duplicate field `semaphore`"));
    }

    // ---- the order of the checks of an acquire ----

    @Test
    void check_1_the_semaphore_before_all_else() {
        assertThat(throttle.lock("1", "Nope", -1)).isEqualTo(domain(400, "Unknown semaphore"));
    }

    @Test
    void check_2_a_count_that_can_never_be_before_the_peer() {
        assertThat(throttle.lock("1", "A", 2))
                .isEqualTo(domain(409, "Lock can never be acquired. Lock asks for count 2 yet full count is only 1."));
    }

    @Test
    void check_3_the_peer_is_extended_even_if_a_later_check_fails() {
        assertThat(throttle.ask("PUT", "/peers/1/A?expires_in=1m", "0")).isEqualTo(UNKNOWN_PEER);
        String peer = throttle.peer("10s");
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?expires_in=1m", "0")
                        .status())
                .isEqualTo(400);
        throttle.time.advanceBy(Duration.ofSeconds(59));
        assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "true"));
        throttle.time.advanceBy(Duration.ofSeconds(1));
        assertThat(throttle.isAcquired(peer)).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void check_4_a_count_below_one_before_the_peer() {
        assertThat(throttle.lock("1", "A", 0))
                .isEqualTo(domain(400, "Lock count must be a positive number. Found: 0."));
        assertThat(throttle.lock("1", "A", Long.MIN_VALUE))
                .isEqualTo(domain(400, "Lock count must be a positive number. Found: -9223372036854775808."));
    }

    @Test
    void check_5_the_peer() {
        assertThat(throttle.lock("1", "A", 1)).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void check_6_a_demanded_count_can_be_repeated_but_not_changed() {
        String peer = throttle.holder("Three", 2);
        assertThat(throttle.lock(peer, "Three", 2)).isEqualTo(acquired(peer));
        assertThat(throttle.lock(peer, "Three", 1))
                .isEqualTo(domain(501, "Shrinking the count of an existing lock is currently not implemented."));
        assertThat(throttle.lock(peer, "Three", 3)).isEqualTo(hierarchy(0, 0));
        String waiting = throttle.peer();
        throttle.lock(waiting, "Three", 2);
        assertThat(throttle.lock(waiting, "Three", 2)).isEqualTo(pending(waiting));
        assertThat(throttle.lock(waiting, "Three", 1).status()).isEqualTo(501);
        assertThat(throttle.lock(waiting, "Three", 3)).isEqualTo(hierarchy(0, 0));
    }

    private static Seen hierarchy(int current, int requested) {
        return domain(
                409,
                "Lock hierachy violation. This may deadlock. The current lock level is " + current
                        + " the\n        requested lock level was " + requested + ".");
    }

    @Test
    void check_7_the_level_of_held_locks() {
        String low = throttle.holder("A", 1);
        assertThat(throttle.lock(low, "High", 1)).isEqualTo(hierarchy(0, 1));
        assertThat(throttle.lock(low, "Three", 1)).isEqualTo(hierarchy(0, 0));
        String high = throttle.holder("High", 1);
        assertThat(throttle.lock(high, "Three", 1)).isEqualTo(acquired(high));
        assertThat(throttle.lock(high, "%2F%26", 1)).isEqualTo(hierarchy(0, 0));
    }

    @Test
    void check_8_one_pending_lock_for_each_peer() {
        throttle.holder("A", 1);
        String peer = throttle.peer();
        throttle.lock(peer, "A", 1);
        assertThat(throttle.lock(peer, "Three", 1))
                .isEqualTo(domain(409, "Already pending. Only one pendig lock per peer is allowed."));
    }

    // ---- malformed calls ----

    @ParameterizedTest
    @CsvSource({"POST, /new_peer", "PUT, /peers/1", "PUT, /peers/1/A", "POST, /restore"})
    void a_body_without_a_json_content_type_is_415(String method, String path) {
        Seen expected = text(415, "Expected request with `Content-Type: application/json`");
        for (String type :
                new String[] {"", "text/json", "application/jsonp", "application/xml", "json", "a/b/c", "*/*"}) {
            assertThat(throttle.askAs(type, method, path, "1")).as(type).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"application/json", "application/json; charset=utf-8", "Application/JSON", "application/x+json"})
    void several_content_types_mean_json(String type) {
        assertThat(throttle.askAs(type, "POST", "/new_peer", FIVE_MINUTES).status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "{\"expires_in\":\"5m\"",
                "{'expires_in':'5m'}",
                "NaN",
                "{\"expires_in\":\"5m\"} 1",
                "\u0001"
            })
    void a_malformed_json_body_is_400(String body) {
        assertUnreadable(throttle.askAs(JSON, "POST", "/new_peer", body));
        assertUnreadable(throttle.askAs(JSON, "PUT", "/peers/1", body));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1 1", "1]", "01", "-", "+1", "0x1", "1,"})
    void a_malformed_json_count_is_400(String body) {
        assertUnreadable(throttle.askAs(JSON, "PUT", "/peers/1/A", body));
    }

    private static void assertUnreadable(Seen answer) {
        assertThat(answer).isEqualTo(text(400, answer.body()));
        assertThat(answer.body()).startsWith("Failed to parse the request body as JSON: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | /new_peer | 5",
                "POST | /new_peer | []",
                "POST | /new_peer | null",
                "POST | /new_peer | {}",
                "POST | /new_peer | {\"expires_in\":5}",
                "POST | /new_peer | {\"expires_in\":null}",
                "POST | /new_peer | {\"expires_in\":\"5\"}",
                "POST | /new_peer | {\"expires_in\":\"\"}",
                "POST | /new_peer | {\"expires_in\":\"-5m\"}",
                "POST | /new_peer | {\"expires_in\":\"5m\",\"expires_in\":\"5m\"}",
                "PUT | /peers/1 | {\"expires_in\":{}}",
                "PUT | /peers/1/A | \"1\"",
                "PUT | /peers/1/A | 1.0",
                "PUT | /peers/1/A | 1e0",
                "PUT | /peers/1/A | true",
                "PUT | /peers/1/A | null",
                "PUT | /peers/1/A | [1]",
                "PUT | /peers/1/A | {\"count\":1}",
                "PUT | /peers/1/A | 9223372036854775808",
                "PUT | /peers/1/A | -9223372036854775809",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":1}",
                "POST | /restore | {\"expires_in\":\"5m\",\"acquired\":{}}",
                "POST | /restore | {\"peer_id\":1,\"acquired\":{}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":-1,\"acquired\":{}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":18446744073709551616,\"acquired\":{}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":\"1\",\"acquired\":{}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":1,\"acquired\":[]}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":1,\"acquired\":{\"A\":\"1\"}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":1,\"acquired\":{\"A\":1.5}}",
                "POST | /restore | {\"expires_in\":\"5m\",\"peer_id\":1,\"peer_id\":1,\"acquired\":{}}",
            })
    void json_of_another_kind_is_422(String method, String path, String body) {
        Seen answer = throttle.ask(method, path, body);
        assertThat(answer).isEqualTo(text(422, answer.body()));
        assertThat(answer.body()).startsWith("Failed to deserialize the JSON body into the target type: ");
    }

    @Test
    void unknown_keys_of_a_body_or_a_query_are_ignored() {
        Seen created = throttle.ask(
                "POST", "/new_peer?a=b", "{\"x\":[{\"expires_in\":1}],\"expires_in\":\"5m\",\"y\":{},\"x\":null}");
        assertThat(created.status()).isEqualTo(200);
        String peer = created.body();
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?wait=x&wait=y&", "1"))
                .isEqualTo(acquired(peer));
    }

    @Test
    void a_body_of_more_than_two_megabytes_is_413() {
        String padding = " ".repeat(2 * 1024 * 1024 - FIVE_MINUTES.length());
        assertThat(throttle.ask("POST", "/new_peer", FIVE_MINUTES + padding).status())
                .isEqualTo(200);
        assertThat(throttle.ask("POST", "/new_peer", FIVE_MINUTES + padding + " "))
                .isEqualTo(text(413, "Failed to buffer the request body: length limit exceeded"));
    }

    @ParameterizedTest
    @CsvSource({"x, PUT", "-1, DELETE", "18446744073709551616, PUT", "1.0, DELETE", "٣, DELETE", "0x1, PUT"})
    void a_peer_that_is_no_number_of_64_bits_is_an_invalid_url(String peer, String method) {
        String path = "/peers/" + java.net.URLEncoder.encode(peer, java.nio.charset.StandardCharsets.UTF_8);
        assertThat(throttle.ask(method, path, "{}"))
                .isEqualTo(text(400, "Invalid URL: Cannot parse `" + peer + "` to a `u64`"));
        assertThat(throttle.ask("GET", path + "/is_acquired"))
                .isEqualTo(text(400, "Invalid URL: Cannot parse `" + peer + "` to a `u64`"));
        assertThat(throttle.ask(method, path + "/A", "1"))
                .isEqualTo(
                        text(400, "Invalid URL: Cannot parse value at index 0 with value `" + peer + "` to a `u64`"));
    }

    @Test
    void the_path_is_checked_before_the_query_and_the_query_before_the_body() {
        assertThat(throttle.askAs("", "PUT", "/peers/x/A?block_for=x", "x").body())
                .startsWith("Invalid URL: ");
        assertThat(throttle.askAs("", "PUT", "/peers/1/A?block_for=x", "x").body())
                .startsWith("Failed to deserialize query string: ");
        assertThat(throttle.askAs("", "PUT", "/peers/1/Nope", "x").status()).isEqualTo(415);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "block_for=",
                "block_for=5",
                "block_for",
                "expires_in=1,5m",
                "block_for=-1s",
                "block_for=1s&block_for=1s",
                "expires_in=1s&expires_in=1s",
                "expires_in=99999999999999999999y"
            })
    void a_query_that_is_no_duration_is_400(String query) {
        Seen answer = throttle.ask("PUT", "/peers/1/A?" + query, "1");
        assertThat(answer).isEqualTo(text(400, answer.body()));
        assertThat(answer.body()).startsWith("Failed to deserialize query string: ");
    }

    @Test
    void a_plus_in_a_query_is_a_space() {
        String peer = throttle.peer("10s");
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?expires_in=1m+40s", "1"))
                .isEqualTo(acquired(peer));
        throttle.time.advanceBy(Duration.ofSeconds(99));
        assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "true"));
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?expires_in=1m%2040s", "1"))
                .isEqualTo(acquired(peer));
        throttle.time.advanceBy(Duration.ofSeconds(99));
        assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "true"));
    }

    // ---- names ----

    @Test
    void a_semaphore_may_have_any_name() {
        String peer = throttle.holder("%2F%26", 1);
        assertThat(throttle.remainder("/%26")).isEqualTo(json(200, "0"));
        assertThat(throttle.ask("DELETE", "/peers/" + peer + "/%2f%26")).isEqualTo(OK);
        assertThat(throttle.remainder("%2F%26")).isEqualTo(json(200, "1"));
    }

    @Test
    void a_semaphore_called_is_acquired_can_be_used() {
        String peer = throttle.holder("is_acquired", 1);
        assertThat(throttle.remainder("is_acquired")).isEqualTo(json(200, "0"));
        assertThat(throttle.ask("DELETE", "/peers/" + peer + "/is_acquired")).isEqualTo(OK);
        assertThat(throttle.remainder("is_acquired")).isEqualTo(json(200, "1"));
        assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "true"));
    }
}
