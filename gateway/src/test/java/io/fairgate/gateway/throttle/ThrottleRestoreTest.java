package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static io.fairgate.gateway.throttle.RunningThrottle.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Peers that return after a restart of the server: their locks are acquired like any other, and clients treat 202 as success.
 */
class ThrottleRestoreTest {

    private static final Seen REFUSED = domain(409, "Restore is not allowed to change existing peers.");
    private static final Seen PENDING = text(202, "Ok");
    private static final String PENDING_RESTORES = "throttle_restores_pending_total";

    @RegisterExtension
    final RunningThrottle throttle = new RunningThrottle("""
            [semaphores]
            A = 1
            Five = 5
            Closed = 0
            Upper = { max = 1, level = 1 }
            """);

    private Seen restore(String peer, String acquired) {
        return throttle.ask(
                "POST",
                "/restore",
                "{\"expires_in\":\"5m\",\"peer_id\":%s,\"pending\":{},\"acquired\":%s}".formatted(peer, acquired));
    }

    @Test
    void a_peer_is_restored_with_its_number_and_all_its_locks() {
        assertThat(restore("18446744073709551615", "{\"A\":1,\"Five\":3}")).isEqualTo(OK);
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[{\"id\":18446744073709551615}]"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(throttle.lock("18446744073709551615", "Five", 3)).isEqualTo(acquired("18446744073709551615"));
        assertThat(throttle.metric(PENDING_RESTORES)).isEqualTo("0");
        throttle.time.advanceBy(Duration.ofMinutes(5));
        assertThat(throttle.isAcquired("18446744073709551615")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_peer_without_locks_is_restored() {
        assertThat(restore("1", "{}")).isEqualTo(OK);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "true"));
    }

    @Test
    void locks_that_are_not_free_wait_together_and_never_exceed_the_maximum() {
        String holder = throttle.holder("Five", 3);
        assertThat(restore("1", "{\"A\":1,\"Five\":3}")).isEqualTo(PENDING);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "false"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(throttle.metric(PENDING_RESTORES)).isEqualTo("1");
        assertThat(restore("1", "{\"Five\":3,\"A\":1}")).as("again").isEqualTo(PENDING);
        assertThat(throttle.metric(PENDING_RESTORES)).isEqualTo("1");
        assertThat(throttle.ask("PUT", "/peers/1", "{\"expires_in\":\"5m\"}")).isEqualTo(OK);
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "true"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(restore("1", "{\"Five\":3,\"A\":1}")).isEqualTo(OK);
    }

    @Test
    void a_restored_peer_does_not_overtake_waiting_peers() {
        String holder = throttle.holder("Five", 4);
        String next = throttle.peer();
        throttle.lock(next, "Five", 5);
        assertThat(restore("1", "{\"Five\":1}")).isEqualTo(PENDING);
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired(next)).isEqualTo(json(200, "true"));
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "false"));
        throttle.ask("DELETE", "/peers/" + next);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "true"));
    }

    @Test
    void a_restore_of_locks_never_held_stays_within_the_maximum() {
        for (int peer = 1; peer <= 7; peer++) {
            assertThat(restore(Integer.toString(peer), "{\"Five\":1}")).isEqualTo(peer <= 5 ? OK : PENDING);
        }
        assertThat(throttle.metric("throttle_acquired{semaphore=\"Five\"}")).isEqualTo("5");
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "0"));
        assertThat(restore("8", "{\"A\":2}"))
                .isEqualTo(domain(409, "Lock can never be acquired. Lock asks for count 2 yet full count is only 1."));
        assertThat(restore("8", "{\"Closed\":1}"))
                .isEqualTo(domain(409, "Lock can never be acquired. Lock asks for count 1 yet full count is only 0."));
        assertThat(throttle.isAcquired("8")).isEqualTo(UNKNOWN_PEER);
    }

    /** The client believes that it holds the first lock, and an error would end it. */
    @Test
    void a_peer_whose_locks_are_pending_may_ask_for_another_and_waits_for_its_own_first() {
        String holder = throttle.holder("Upper", 1);
        assertThat(restore("1", "{\"Upper\":1}")).isEqualTo(PENDING);
        assertThat(throttle.lock("1", "Upper", 1)).isEqualTo(pending("1"));
        assertThat(throttle.lock("1", "Five", 2)).isEqualTo(pending("1"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "5"));
        var blocked = throttle.blocked("1", "Five", 2, Duration.ofSeconds(20));
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(blocked.join()).isEqualTo(acquired("1"));
        assertThat(throttle.remainder("Upper")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "3"));
        assertThat(throttle.lock("1", "Upper", 2).status()).isEqualTo(409);
    }

    @Test
    void the_release_of_a_pending_lock_leaves_the_other_pending() {
        String holder = throttle.holder("Upper", 1);
        assertThat(restore("1", "{\"Upper\":1,\"Five\":2}")).isEqualTo(PENDING);
        assertThat(throttle.ask("DELETE", "/peers/1/Five")).isEqualTo(OK);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "false"));
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired("1")).isEqualTo(json(200, "true"));
        assertThat(throttle.remainder("Upper")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "5"));
    }

    @Test
    void an_existing_peer_may_repeat_its_locks_without_an_extension() {
        restore("1", "{\"A\":1,\"Five\":2}");
        throttle.time.advanceBy(Duration.ofMinutes(4));
        assertThat(restore("1", "{\"Five\":2,\"A\":1}")).isEqualTo(OK);
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "3"));
        throttle.time.advanceBy(Duration.ofMinutes(1));
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_restore_of_an_existing_peer_changes_nothing() {
        restore("1", "{\"A\":1}");
        for (String other : new String[] {"{}", "{\"A\":2}", "{\"Five\":1}", "{\"A\":1,\"Five\":1}"}) {
            assertThat(restore("1", other)).isEqualTo(REFUSED);
        }
        String pending = throttle.peer();
        assertThat(throttle.lock(pending, "A", 1)).isEqualTo(pending(pending));
        assertThat(restore(pending, "{}")).isEqualTo(REFUSED);
        assertThat(restore(pending, "{\"A\":1}")).isEqualTo(REFUSED);
    }

    @Test
    void an_unknown_semaphore_or_a_count_below_one_or_beyond_all_bounds_changes_nothing() {
        assertThat(restore("1", "{\"A\":1,\"Nope\":0}")).isEqualTo(domain(400, "Unknown semaphore"));
        assertThat(restore("1", "{\"A\":1,\"Five\":0}"))
                .isEqualTo(domain(400, "Lock count must be a positive number. Found: 0."));
        assertThat(restore("1", "{\"A\":1,\"Five\":-3}"))
                .isEqualTo(domain(400, "Lock count must be a positive number. Found: -3."));
        assertThat(restore("1", "{\"A\":9223372036854775807}"))
                .isEqualTo(
                        domain(
                                409,
                                "Lock can never be acquired. Lock asks for count 9223372036854775807 yet full count is only 1000000."));
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
    }
}
