package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * How locks are granted, waited for and lost, and where this server deliberately differs from throttle.
 */
class ThrottleSemanticsTest {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    @RegisterExtension
    final RunningThrottle throttle = new RunningThrottle("""
            [semaphores]
            A = 1
            Five = 5
            High = { max = 1, level = 1 }
            "%41" = 1
            """);

    private String waiting(String semaphore, int count) {
        String peer = throttle.peer();
        assertThat(throttle.lock(peer, semaphore, count)).isEqualTo(pending(peer));
        return peer;
    }

    private Seen delete(String path) {
        return throttle.ask("DELETE", "/peers/" + path);
    }

    private void assertAcquired(String... peers) {
        for (String peer : peers) {
            assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "true"));
        }
    }

    private void assertPending(String... peers) {
        for (String peer : peers) {
            assertThat(throttle.isAcquired(peer)).isEqualTo(json(200, "false"));
        }
    }

    // ---- fairness ----

    @Test
    void locks_are_granted_in_the_order_in_which_they_were_first_asked_for() {
        String holder = throttle.holder("A", 1);
        String first = waiting("A", 1);
        String second = waiting("A", 1);
        String third = waiting("A", 1);
        assertThat(throttle.lock(second, "A", 1)).isEqualTo(pending(second));
        delete(holder);
        assertAcquired(first);
        assertPending(second, third);
        delete(first);
        assertAcquired(second);
        assertPending(third);
    }

    @Test
    void a_large_count_at_the_head_blocks_smaller_ones_behind_it() {
        String holder = throttle.holder("Five", 3);
        String large = waiting("Five", 4);
        String small = waiting("Five", 1);
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(throttle.metric("throttle_pending{semaphore=\"Five\"}")).isEqualTo("5");
        delete(holder);
        assertAcquired(large, small);
    }

    @Test
    void later_calls_do_not_get_what_the_head_waits_for() {
        throttle.holder("Five", 4);
        String large = waiting("Five", 2);
        String barging = waiting("Five", 1);
        delete(large + "/Five");
        assertAcquired(barging);
    }

    // ---- waiting ----

    @Test
    void without_block_for_the_answer_is_immediate() {
        throttle.holder("A", 1);
        waiting("A", 1);
    }

    @Test
    void block_for_answers_when_the_lock_is_granted() {
        String holder = throttle.holder("A", 1);
        String peer = throttle.peer();
        CompletableFuture<Seen> blocked = throttle.blocked(peer, "A", 1, TEN_SECONDS);
        throttle.time.advanceBy(Duration.ofSeconds(9));
        assertThat(blocked).isNotDone();
        delete(holder);
        assertThat(blocked.join()).isEqualTo(acquired(peer));
    }

    @Test
    void block_for_keeps_the_place_when_its_time_is_up() {
        String holder = throttle.holder("A", 1);
        String first = throttle.peer();
        CompletableFuture<Seen> blocked = throttle.blocked(first, "A", 1, TEN_SECONDS);
        String second = waiting("A", 1);
        throttle.time.advanceBy(TEN_SECONDS);
        assertThat(blocked.join()).isEqualTo(pending(first));
        CompletableFuture<Seen> again = throttle.blocked(first, "A", 1, TEN_SECONDS);
        delete(holder);
        assertThat(again.join()).isEqualTo(acquired(first));
        assertPending(second);
    }

    @Test
    void a_blocking_call_for_a_free_lock_is_answered_at_once() {
        String peer = throttle.peer();
        assertThat(throttle.ask("PUT", "/peers/" + peer + "/A?block_for=10s", "1"))
                .isEqualTo(acquired(peer));
    }

    @Test
    void a_blocked_call_whose_peer_is_deleted_is_answered_at_once() {
        throttle.holder("A", 1);
        String peer = throttle.peer();
        CompletableFuture<Seen> blocked = throttle.blocked(peer, "A", 1, TEN_SECONDS);
        delete(peer);
        assertThat(blocked.join()).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_blocked_call_whose_peer_expires_is_answered_at_once() {
        throttle.holder("A", 1);
        String peer = throttle.peer("3s");
        CompletableFuture<Seen> blocked = throttle.blocked(peer, "A", 1, TEN_SECONDS);
        throttle.time.advanceBy(Duration.ofSeconds(3));
        assertThat(blocked.join()).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_client_that_leaves_while_it_blocks_leaves_its_lock_in_the_queue() throws Exception {
        String holder = throttle.holder("A", 1);
        String peer = throttle.peer();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), throttle.port())) {
            String request =
                    "PUT /peers/%s/A?block_for=10s HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1"
                            .formatted(peer);
            client.getOutputStream().write(request.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            throttle.time.awaitTimer(TEN_SECONDS);
        }
        assertPending(peer);
        delete(holder);
        assertAcquired(peer);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
    }

    @Test
    void the_release_of_a_pending_lock_does_not_end_a_blocked_call_for_it() {
        String holder = throttle.holder("A", 1);
        String peer = throttle.peer();
        CompletableFuture<Seen> blocked = throttle.blocked(peer, "A", 1, TEN_SECONDS);
        throttle.time.advanceBy(Duration.ofSeconds(4));
        assertThat(delete(peer + "/A")).isEqualTo(OK);
        throttle.time.awaitTimer(Duration.ofSeconds(6));
        delete(holder);
        throttle.time.advanceBy(Duration.ofSeconds(5));
        assertThat(blocked).isNotDone();
        throttle.time.advanceBy(Duration.ofSeconds(1));
        assertThat(blocked.join()).isEqualTo(pending(peer));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
    }

    @Test
    void a_repeated_call_for_a_held_lock_waits_for_the_pending_one() {
        String holder = throttle.holder("A", 1);
        String peer = throttle.holder("High", 1);
        assertThat(throttle.lock(peer, "A", 1)).isEqualTo(pending(peer));
        assertThat(throttle.lock(peer, "High", 1)).isEqualTo(pending(peer));
        CompletableFuture<Seen> blocked = throttle.blocked(peer, "High", 1, TEN_SECONDS);
        delete(holder);
        assertThat(blocked.join()).isEqualTo(acquired(peer));
        assertThat(throttle.lock(peer, "High", 1)).isEqualTo(acquired(peer));
    }

    // ---- expiry ----

    @Test
    void an_expired_peer_frees_its_locks_at_once() {
        String holder = throttle.peer("5s");
        throttle.lock(holder, "A", 1);
        String next = throttle.peer();
        CompletableFuture<Seen> blocked = throttle.blocked(next, "A", 1, TEN_SECONDS);
        throttle.time.advanceBy(Duration.ofSeconds(5).minusNanos(1));
        assertThat(blocked).isNotDone();
        throttle.time.advanceBy(Duration.ofNanos(1));
        assertThat(blocked.join()).isEqualTo(acquired(next));
        assertThat(throttle.lock(holder, "A", 1)).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_pending_lock_expires_with_its_peer_and_frees_its_place() {
        throttle.holder("Five", 3);
        String large = throttle.peer("5s");
        throttle.lock(large, "Five", 5);
        String small = waiting("Five", 2);
        throttle.time.advanceBy(Duration.ofSeconds(5));
        assertAcquired(small);
    }

    @Test
    void a_peer_with_no_lifetime_holds_nothing_at_the_next_call() {
        String peer = throttle.peer("0ms");
        assertThat(throttle.lock(peer, "A", 1)).isEqualTo(UNKNOWN_PEER);
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[]"));
        assertThat(delete(peer)).isEqualTo(json(200, "\"Peer not found\""));
    }

    // ---- release ----

    @Test
    void a_deleted_peer_releases_its_locks_of_all_semaphores() {
        String peer = throttle.holder("High", 1);
        throttle.lock(peer, "Five", 2);
        String high = waiting("High", 1);
        delete(peer);
        assertAcquired(high);
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "5"));
    }

    @Test
    void delete_of_a_lock_grants_the_next_one() {
        String holder = throttle.holder("A", 1);
        String next = waiting("A", 1);
        assertThat(delete(holder + "/A")).isEqualTo(OK);
        assertAcquired(next, holder);
    }

    // ---- deliberate differences ----

    @Test
    void delete_of_a_lock_that_is_not_held_leaves_the_pending_lock_on_another_semaphore() {
        throttle.holder("A", 1);
        String peer = waiting("A", 1);
        assertThat(delete(peer + "/Five")).isEqualTo(OK);
        assertPending(peer);
        assertThat(throttle.metric("throttle_pending{semaphore=\"A\"}")).isEqualTo("1");
    }

    @Test
    void a_name_is_decoded_once() {
        String peer = throttle.holder("%2541", 1);
        assertThat(throttle.remainder("%2541")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
        assertThat(delete(peer + "/%2541")).isEqualTo(OK);
    }

    @Test
    void no_call_blocks_for_longer_than_thirty_seconds() {
        throttle.holder("A", 1);
        String peer = throttle.peer();
        CompletableFuture<Seen> blocked =
                throttle.start("PUT", "/peers/" + peer + "/A?block_for=300000000000years", "1");
        throttle.time.awaitTimer(Duration.ofSeconds(30));
        throttle.time.advanceBy(Duration.ofSeconds(30));
        assertThat(blocked.join()).isEqualTo(pending(peer));
    }

    @Test
    void no_peer_lives_longer_than_a_day_without_a_call() {
        String forEver = "300000000000years";
        String created = throttle.peer(forEver);
        String beaten = throttle.peer();
        throttle.ask("PUT", "/peers/" + beaten, "{\"expires_in\":\"" + forEver + "\"}");
        String locked = throttle.peer();
        throttle.ask("PUT", "/peers/" + locked + "/A?expires_in=" + forEver, "1");
        String restored = "18446744073709551615";
        throttle.ask(
                "POST",
                "/restore",
                "{\"expires_in\":\"%s\",\"peer_id\":%s,\"acquired\":{}}".formatted(forEver, restored));
        throttle.time.advanceBy(Duration.ofHours(24).minusNanos(1));
        assertAcquired(created, beaten, locked, restored);
        throttle.time.advanceBy(Duration.ofNanos(1));
        for (String peer : new String[] {created, beaten, locked, restored}) {
            assertThat(throttle.isAcquired(peer)).isEqualTo(UNKNOWN_PEER);
        }
        assertThat(throttle.ask("GET", "/health")).isEqualTo(OK);
    }

    @Test
    void a_hundred_concurrent_calls_within_the_maximum_all_succeed() {
        RunningThrottle hundred = new RunningThrottle("[semaphores]\nA = 100\n");
        try {
            var answers = java.util.stream.IntStream.range(0, 100)
                    .mapToObj(i -> hundred.start("POST", "/new_peer", "{\"expires_in\":\"1m\"}")
                            .thenCompose(peer -> hundred.start("PUT", "/peers/" + peer.body() + "/A", "1")))
                    .toList();
            assertThat(answers)
                    .allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(200));
        } finally {
            hundred.end();
        }
    }
}
