package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.slice.SliceAnswer.Outcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules of the ledger, one by one. The scripts follow them: {@link ScriptsAgainstKernelTest}. */
class SliceKernelTest {

    private static final long TTL = SliceTerm.USUAL.ttl().toMillis();
    private static final long FAILOVER = 700;
    private static final long RECOVERY = TTL + SliceTerm.USUAL.maxStep().toMillis() + FAILOVER;

    private final SliceKernel kernel = new SliceKernel(SliceTerm.USUAL, FAILOVER, Set.of());
    private final LedgerState state = new LedgerState();
    private final Map<String, Long> sequences = new HashMap<>();
    private long wall = 1_760_000_000_000L;
    private String server = "a";

    @BeforeEach
    void endFirstRecovery() {
        beat("first", 0, 0);
        pass(RECOVERY + TTL);
    }

    private void pass(long millis) {
        // In small steps, as there are always calls.
        for (long passed = 0; passed < millis; passed += 100) {
            wall += 100;
            kernel.release(state, "none", 1, LedgerVersion.NONE, wall, server);
        }
    }

    private SliceAnswer beat(String node, int kept, int wanted, LeaseClaim... leases) {
        return beat(node, kept, wanted, 10, leases);
    }

    private SliceAnswer beat(String node, int kept, int wanted, int limit, LeaseClaim... leases) {
        long sequence = sequences.merge(node, 1L, Long::sum);
        return kernel.heartbeat(
                state,
                new Heartbeat(node, sequence, LedgerVersion.NONE, kept, wanted, limit, List.of(leases), "", false),
                wall,
                server);
    }

    private static long token(SliceAnswer answer, String id) {
        return Objects.requireNonNull(answer.tokens().get(id));
    }

    private static LeaseClaim newLease(String id, int permits) {
        return new LeaseClaim(id, permits, 60_000, 0);
    }

    @Test
    void a_slice_grows_from_what_is_free_only() {
        assertThat(beat("n", 0, 7).slice()).isEqualTo(7);
        assertThat(beat("m", 0, 7).slice()).isEqualTo(3);
        assertThat(beat("n", 5, 5).slice()).isEqualTo(5);
        assertThat(beat("m", 3, 7).slice()).isEqualTo(5);
    }

    @Test
    void an_empty_ledger_gives_nothing_until_all_that_a_lost_one_gave_has_ended() {
        LedgerState empty = new LedgerState();
        Heartbeat first = new Heartbeat("n", 1, LedgerVersion.NONE, 0, 7, 10, List.of(), "", false);
        SliceAnswer answer = kernel.heartbeat(empty, first, wall, server);
        assertThat(answer.slice()).isZero();
        assertThat(answer.isRecovering()).isTrue();
    }

    @Test
    void the_slice_of_a_silent_node_becomes_free() {
        beat("n", 0, 10);
        pass(TTL - 100);
        assertThat(beat("m", 0, 10).slice()).isZero();
        pass(100);
        assertThat(beat("m", 0, 10).slice()).isEqualTo(10);
        assertThat(beat("n", 10, 10).outcome()).isEqualTo(Outcome.ENDED);
    }

    @Test
    void the_least_size_that_a_live_node_has_is_in_force() {
        assertThat(beat("n", 0, 4, 10).slice()).isEqualTo(4);
        assertThat(beat("m", 0, 20, 20).slice()).isEqualTo(6);
        pass(TTL);
        assertThat(beat("k", 0, 20, 20).slice()).as("the other is silent").isEqualTo(20);
    }

    @Test
    void a_node_that_keeps_more_than_is_recorded_begins_a_recovery_once() {
        beat("n", 0, 2);
        SliceAnswer first = beat("n", 5, 9);
        assertThat(first.isRecovering()).isTrue();
        assertThat(first.slice()).as("it is believed, and does not grow").isEqualTo(5);
        for (long passed = 0; passed <= RECOVERY; passed += 1_000) {
            pass(1_000);
            beat("n", 5, 5);
        }
        assertThat(state.isRecovering()).isFalse();
        long epoch = state.epoch;
        assertThat(beat("n", 9, 9).outcome()).isEqualTo(Outcome.ENDED);
        assertThat(state.epoch).isEqualTo(epoch);
        assertThat(state.used()).isZero();
    }

    @Test
    void the_permits_of_a_lease_leave_the_slice_once() {
        beat("n", 0, 6);
        SliceAnswer first = beat("n", 4, 4, newLease("l", 2));
        long token = token(first, "l");
        assertThat(state.used()).isEqualTo(6);
        SliceAnswer again = beat("n", 4, 4, newLease("l", 2));
        assertThat(again.tokens()).containsEntry("l", token);
        assertThat(again.slice()).isEqualTo(4);
        assertThat(state.used()).isEqualTo(6);
    }

    @Test
    void a_repeated_claim_of_an_ended_lease_does_not_bring_it_back() {
        beat("n", 0, 6);
        long token = token(beat("n", 4, 4, newLease("l", 2)), "l");
        assertThat(kernel.release(state, "l", token + 1, LedgerVersion.NONE, wall, server))
                .isFalse();
        assertThat(kernel.release(state, "l", token, LedgerVersion.NONE, wall, server))
                .isTrue();
        assertThat(kernel.release(state, "l", token, LedgerVersion.NONE, wall, server))
                .isFalse();
        assertThat(beat("n", 4, 4, newLease("l", 2)).tokens()).isEmpty();
        assertThat(state.used()).isEqualTo(4);
    }

    @Test
    void the_time_of_a_lease_begins_with_the_latest_claim_of_it() {
        beat("n", 0, 6);
        beat("n", 4, 4, newLease("l", 2));
        pass(2_000);
        long token = token(beat("n", 4, 4, newLease("l", 2)), "l");
        for (long passed = 0; passed < 59_000; passed += 1_000) {
            pass(1_000);
            beat("n", 4, 4);
        }
        assertThat(kernel.extend(state, "l", token, 60_000, LedgerVersion.NONE, wall, server))
                .isTrue();
    }

    @Test
    void on_another_server_tokens_grow_and_a_lost_lease_is_recorded_again() {
        beat("n", 0, 6);
        long token = token(beat("n", 4, 4, newLease("l", 2)), "l");
        server = "b";
        state.leases.clear();
        SliceAnswer answer = beat("n", 2, 2, new LeaseClaim("l", 2, 60_000, token), newLease("k", 2));
        assertThat(answer.tokens()).containsEntry("l", token);
        assertThat(answer.tokens().get("k")).isGreaterThan(token);
        pass(RECOVERY);
        state.leases.clear();
        assertThat(beat("m", 0, 0, new LeaseClaim("l", 2, 60_000, token)).tokens())
                .as("too late")
                .isEmpty();
    }

    @Test
    void a_leap_of_the_clock_ends_no_term() {
        beat("n", 0, 10);
        wall += 3_600_000;
        assertThat(beat("m", 0, 10).slice()).isZero();
        wall -= 7_200_000;
        assertThat(beat("m", 0, 10).slice()).isZero();
        assertThat(beat("n", 10, 10).outcome()).isEqualTo(Outcome.RECORDED);
    }
}
