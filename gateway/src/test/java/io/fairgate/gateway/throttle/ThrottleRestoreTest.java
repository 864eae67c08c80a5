package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Peers that come back after a restart of the server. */
class ThrottleRestoreTest {

    private static final Seen REFUSED = domain(409, "Restore is not allowed to change existing peers.");
    private static final String OVER_LIMIT = "throttle_restores_over_max_total";

    @RegisterExtension
    final RunningThrottle throttle = new RunningThrottle("""
            [semaphores]
            A = 1
            Five = 5
            Closed = 0
            """);

    private Seen restore(String peer, String acquired) {
        return throttle.ask(
                "POST",
                "/restore",
                "{\"expires_in\":\"5m\",\"peer_id\":%s,\"pending\":{},\"acquired\":%s}".formatted(peer, acquired));
    }

    private void afterTheWindow() {
        throttle.time.advanceBy(Duration.ofMinutes(5));
    }

    @Test
    void a_peer_comes_back_under_its_number_with_all_its_locks() {
        assertThat(restore("18446744073709551615", "{\"A\":1,\"Five\":3}")).isEqualTo(OK);
        assertThat(throttle.ask("GET", "/peers/")).isEqualTo(json(200, "[{\"id\":18446744073709551615}]"));
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(throttle.lock("18446744073709551615", "Five", 3)).isEqualTo(acquired("18446744073709551615"));
        assertThat(throttle.metric(OVER_LIMIT)).isEqualTo("0");
        throttle.time.advanceBy(Duration.ofMinutes(5));
        assertThat(throttle.isAcquired("18446744073709551615")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_peer_without_locks_comes_back_at_any_time() {
        assertThat(restore("1", "{}")).isEqualTo(OK);
        afterTheWindow();
        assertThat(restore("2", "{}")).isEqualTo(OK);
        assertThat(throttle.isAcquired("2")).isEqualTo(json(200, "true"));
    }

    @Test
    void within_the_window_more_may_be_acquired_than_there_is_which_is_counted() {
        throttle.holder("A", 1);
        assertThat(restore("1", "{\"A\":2}")).isEqualTo(OK);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "-2"));
        assertThat(throttle.metric("throttle_acquired{semaphore=\"A\"}")).isEqualTo("3");
        assertThat(throttle.metric(OVER_LIMIT)).isEqualTo("1");
        assertThat(restore("2", "{\"Closed\":1}")).isEqualTo(OK);
        assertThat(throttle.metric(OVER_LIMIT)).isEqualTo("2");
        String next = throttle.peer();
        throttle.lock(next, "A", 1);
        throttle.ask("DELETE", "/peers/1");
        assertThat(throttle.isAcquired(next)).isEqualTo(json(200, "false"));
    }

    @Test
    void within_the_window_nobody_who_waits_comes_before_a_peer_that_comes_back() {
        String holder = throttle.holder("Five", 4);
        String next = throttle.peer();
        throttle.lock(next, "Five", 5);
        assertThat(restore("1", "{\"Five\":1}")).isEqualTo(OK);
        throttle.ask("DELETE", "/peers/" + holder);
        assertThat(throttle.isAcquired(next)).isEqualTo(json(200, "false"));
        throttle.ask("DELETE", "/peers/1");
        assertThat(throttle.isAcquired(next)).isEqualTo(json(200, "true"));
    }

    @Test
    void after_the_window_a_peer_gets_its_locks_back_when_all_are_free() {
        afterTheWindow();
        throttle.holder("Five", 3);
        assertThat(restore("1", "{\"A\":1,\"Five\":3}")).isEqualTo(REFUSED);
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "1"));
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "2"));
        assertThat(throttle.metric("throttle_pending{semaphore=\"Five\"}")).isEqualTo("0");
        assertThat(restore("1", "{\"A\":1,\"Five\":2}")).isEqualTo(OK);
        assertThat(throttle.remainder("A")).isEqualTo(json(200, "0"));
        assertThat(throttle.metric(OVER_LIMIT)).isEqualTo("0");
    }

    @Test
    void after_the_window_nobody_gets_more_than_there_is() {
        afterTheWindow();
        assertThat(restore("1", "{\"A\":2}")).isEqualTo(REFUSED);
        assertThat(restore("1", "{\"Closed\":1}")).isEqualTo(REFUSED);
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void after_the_window_who_waits_is_not_overtaken() {
        afterTheWindow();
        throttle.holder("Five", 2);
        String next = throttle.peer();
        throttle.lock(next, "Five", 4);
        assertThat(restore("1", "{\"Five\":1}")).isEqualTo(REFUSED);
    }

    @Test
    void a_peer_that_is_there_may_repeat_what_it_holds_and_lives_no_longer_by_that() {
        restore("1", "{\"A\":1,\"Five\":2}");
        throttle.time.advanceBy(Duration.ofMinutes(4));
        assertThat(restore("1", "{\"Five\":2,\"A\":1}")).isEqualTo(OK);
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "3"));
        throttle.time.advanceBy(Duration.ofMinutes(1));
        assertThat(throttle.isAcquired("1")).isEqualTo(UNKNOWN_PEER);
    }

    @Test
    void a_peer_that_is_there_changes_nothing_by_a_restore() {
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

    @Test
    void what_a_pool_cannot_count_any_more_changes_nothing() {
        assertThat(restore("1", "{\"A\":1000000}")).isEqualTo(OK);
        assertThat(restore("2", "{\"Five\":1,\"A\":1000000}"))
                .isEqualTo(
                        domain(
                                409,
                                "Lock can never be acquired. Lock asks for count 1000000, more than this tenant may ever hold."));
        assertThat(throttle.isAcquired("2")).isEqualTo(UNKNOWN_PEER);
        assertThat(throttle.remainder("Five")).isEqualTo(json(200, "5"));
    }
}
