package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.redis.slice.SliceAnswer.Outcome;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SliceAgentTest {

    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final int LIMIT = 10;

    private int names;
    private final SliceAgent agent = new SliceAgent(TERM, () -> "node-" + names++);

    private static SliceAnswer answer(Heartbeat to, int slice) {
        return answer(to, slice, 1, Map.of());
    }

    private static SliceAnswer answer(Heartbeat to, int slice, long epoch, Map<String, Long> tokens) {
        return new SliceAnswer(
                Outcome.RECORDED,
                to.sequence(),
                new LedgerVersion(epoch, to.sequence()),
                slice,
                false,
                true,
                tokens,
                Map.of(to.node(), to.demand(), "other", "its demand"));
    }

    /** At time 0, with a target of the same size. */
    private void have(int slice) {
        agent.aimAt(slice);
        agent.answered(answer(agent.beat(0, LIMIT, 0, ""), slice), 0);
    }

    @Test
    void before_the_first_answer_a_node_has_nothing() {
        assertThat(agent.mayGrant(0)).isFalse();
        assertThat(agent.beat(0, LIMIT, 0, ""))
                .isEqualTo(new Heartbeat("node-0", 1, LedgerVersion.NONE, 0, 0, LIMIT, List.of(), "", false));
    }

    @Test
    void the_term_begins_when_the_heartbeat_is_sent() {
        agent.aimAt(4);
        Heartbeat beat = agent.beat(0, LIMIT, 0, "");
        agent.answered(answer(beat, 4), TERM.grantNanos() - 1);
        assertThat(agent.mayGrant(TERM.grantNanos() - 1)).isTrue();
        assertThat(agent.mayGrant(TERM.grantNanos())).isFalse();
        assertThat(agent.slice(TERM.nanos() - 1)).isEqualTo(4);
        assertThat(agent.slice(TERM.nanos())).isZero();
    }

    @Test
    void requests_of_an_earlier_term_make_the_slice_no_larger() {
        have(5);
        agent.aimAt(4);
        assertThat(agent.beat(1, LIMIT, 10, "").kept()).isEqualTo(5);
        assertThat(agent.slice(1)).isEqualTo(5);
    }

    @Test
    void only_the_answer_to_the_latest_heartbeat_counts() {
        have(4);
        Heartbeat early = agent.beat(1, LIMIT, 0, "");
        agent.aimAt(1);
        Heartbeat late = agent.beat(2, LIMIT, 0, "");
        agent.answered(answer(early, 9), 3);
        assertThat(agent.slice(3)).isOne();
        agent.answered(answer(late, 1), 4);
        agent.answered(answer(late, 9), 5);
        assertThat(agent.slice(5)).as("once").isOne();
    }

    @Test
    void after_the_end_of_a_term_no_answer_brings_the_slice_back() {
        have(4);
        long late = TERM.nanos() - 1;
        Heartbeat beat = agent.beat(late, LIMIT, 4, "");
        assertThat(beat.kept()).isEqualTo(4);
        // The ledger has given the permits to others before the heartbeat arrived.
        agent.answered(answer(beat, 4), TERM.nanos());
        assertThat(agent.slice(TERM.nanos())).isZero();
        assertThat(agent.beat(TERM.nanos(), LIMIT, 0, ""))
                .extracting(Heartbeat::node, Heartbeat::sequence, Heartbeat::kept)
                .containsExactly("node-1", 3L, 0);
    }

    @Test
    void an_answer_to_the_old_name_is_no_answer_to_the_new_one() {
        have(4);
        agent.beat(TERM.nanos(), LIMIT, 0, "");
        agent.answered(
                new SliceAnswer(Outcome.RECORDED, 1, new LedgerVersion(1, 2), 9, false, true, Map.of(), Map.of()),
                TERM.nanos() + 1);
        assertThat(agent.node()).isEqualTo("node-1");
        assertThat(agent.slice(TERM.nanos() + 1)).isZero();
    }

    @Test
    void a_node_that_is_told_that_it_has_ended_begins_again() {
        have(4);
        Heartbeat beat = agent.beat(1, LIMIT, 0, "");
        agent.answered(
                new SliceAnswer(
                        Outcome.ENDED, beat.sequence(), LedgerVersion.NONE, 0, false, false, Map.of(), Map.of()),
                2);
        assertThat(agent.slice(2)).isZero();
        assertThat(agent.node()).isEqualTo("node-1");
    }

    @Test
    void above_its_target_a_node_keeps_what_is_in_use() {
        have(8);
        agent.aimAt(3);
        assertThat(agent.beat(1, LIMIT, 5, "").kept()).isEqualTo(5);
        assertThat(agent.slice(1)).isEqualTo(5);
        agent.shrink(2);
        assertThat(agent.slice(1)).as("when permits came back").isEqualTo(3);
        assertThat(agent.beat(2, LIMIT, 2, ""))
                .extracting(Heartbeat::kept, Heartbeat::wanted)
                .containsExactly(3, 3);
    }

    @Test
    void the_permits_of_a_new_lease_leave_the_slice_when_it_is_recorded() {
        have(5);
        LeaseClaim lease = new LeaseClaim("l", 2, 60_000, 0);
        agent.granted(lease);
        assertThat(agent.slice(1) - agent.moving()).as("for requests").isEqualTo(3);
        Heartbeat beat = agent.beat(1, LIMIT, 2, "");
        assertThat(beat.kept()).isEqualTo(3);
        assertThat(beat.leases()).containsExactly(lease);
        Heartbeat again = agent.beat(2, LIMIT, 2, "");
        assertThat(again.leases()).as("until it is answered").containsExactly(lease);
        assertThat(agent.answered(answer(again, 3, 1, Map.of("l", 7L)), 3)).containsExactly(lease.recorded(7));
        assertThat(agent.slice(3)).isEqualTo(3);
        assertThat(agent.moving()).isZero();
        assertThat(agent.beat(4, LIMIT, 0, "").leases()).isEmpty();
    }

    @Test
    void a_lease_that_has_ended_before_its_answer_came_has_no_token() {
        have(5);
        LeaseClaim lease = new LeaseClaim("l", 2, 60_000, 0);
        agent.granted(lease);
        Heartbeat beat = agent.beat(1, LIMIT, 2, "");
        assertThat(agent.answered(answer(beat, 3), 2)).containsExactly(lease);
        assertThat(agent.slice(2)).isEqualTo(3);
    }

    @Test
    void in_a_new_epoch_a_node_asserts_its_leases_until_they_are_recorded() {
        have(5);
        agent.granted(new LeaseClaim("l", 2, 60_000, 0));
        agent.answered(answer(agent.beat(1, LIMIT, 2, ""), 3, 1, Map.of("l", 7L)), 2);
        agent.answered(answer(agent.beat(3, LIMIT, 0, ""), 3, 2, Map.of()), 4);

        LeaseClaim asserted = new LeaseClaim("l", 2, 60_000, 7);
        assertThat(agent.beat(5, LIMIT, 0, "").leases()).containsExactly(asserted);
        Heartbeat again = agent.beat(6, LIMIT, 0, "");
        assertThat(again.leases()).as("unanswered").containsExactly(asserted);
        agent.answered(answer(again, 3, 2, Map.of("l", 7L)), 7);
        assertThat(agent.beat(8, LIMIT, 0, "").leases()).isEmpty();
    }

    @Test
    void a_forgotten_lease_is_not_asserted() {
        have(5);
        agent.granted(new LeaseClaim("l", 2, 60_000, 0));
        agent.answered(answer(agent.beat(1, LIMIT, 2, ""), 3, 1, Map.of("l", 7L)), 2);
        agent.forget("l");
        agent.answered(answer(agent.beat(3, LIMIT, 0, ""), 3, 2, Map.of()), 4);
        assertThat(agent.beat(5, LIMIT, 0, "").leases()).isEmpty();
    }

    @Test
    void a_lease_that_another_node_has_granted_is_asserted_until_the_ledger_has_answered_and_in_each_new_epoch() {
        have(5);
        agent.keep(LeaseClaim.ofAnother("l", 2, 60_000));
        agent.keep(LeaseClaim.ofAnother("l", 2, 90_000));
        Heartbeat beat = agent.beat(1, LIMIT, 0, "");
        assertThat(beat.leases()).containsExactly(LeaseClaim.ofAnother("l", 2, 90_000));
        assertThat(beat.leases().get(0).isNew()).isFalse();
        assertThat(beat.kept()).as("its permits are not of the slice").isEqualTo(5);
        agent.answered(answer(beat, 5, 1, Map.of("l", 1L)), 2);
        agent.keep(LeaseClaim.ofAnother("l", 2, 70_000));
        Heartbeat next = agent.beat(3, LIMIT, 0, "");
        assertThat(next.leases()).isEmpty();
        agent.answered(answer(next, 5, 2, Map.of()), 4);
        assertThat(agent.beat(5, LIMIT, 0, "").leases()).containsExactly(new LeaseClaim("l", 2, 70_000, 1));
        agent.forget("l");
        assertThat(agent.beat(6, LIMIT, 0, "").leases()).isEmpty();
    }

    @Test
    void a_lease_that_another_node_has_granted_and_the_ledger_does_not_have_is_forgotten() {
        have(5);
        agent.keep(LeaseClaim.ofAnother("l", 2, 60_000));
        agent.answered(answer(agent.beat(1, LIMIT, 0, ""), 5, 1, Map.of()), 2);
        assertThat(agent.beat(3, LIMIT, 0, "").leases()).isEmpty();
    }

    @Test
    void a_lease_of_this_node_that_is_not_recorded_yet_is_not_asserted() {
        have(5);
        LeaseClaim own = new LeaseClaim("l", 2, 60_000, 0);
        agent.granted(own);
        agent.keep(LeaseClaim.ofAnother("l", 2, 60_000));
        assertThat(agent.beat(1, LIMIT, 2, "").leases()).containsExactly(own);
    }

    @Test
    void the_last_heartbeat_gives_everything_back() {
        have(5);
        Heartbeat open = agent.beat(1, LIMIT, 0, "");
        assertThat(agent.lastBeat())
                .isEqualTo(new Heartbeat("node-0", 3, new LedgerVersion(1, 1), 0, 0, 0, List.of(), "", true));
        agent.answered(answer(open, 5), 2);
        assertThat(agent.slice(2)).isZero();
    }

    @Test
    void times_that_leave_nothing_to_use_are_refused() {
        assertThatThrownBy(() -> new SliceTerm(
                        java.time.Duration.ofSeconds(1),
                        java.time.Duration.ofMillis(900),
                        0.001,
                        java.time.Duration.ofMillis(50),
                        java.time.Duration.ofMillis(500)))
                .hasMessageEndingWith("(expected: a ttl that leaves more than the grace)");
    }

    @Test
    void a_node_knows_what_all_live_nodes_told_until_the_next_answer() {
        assertThat(agent.demands()).isEmpty();
        agent.answered(answer(agent.beat(0, LIMIT, 0, "mine"), 1), 1);
        assertThat(agent.demands()).containsOnly(Map.entry("node-0", "mine"), Map.entry("other", "its demand"));
        agent.beat(2, LIMIT, 0, "mine now");
        assertThat(agent.demands()).containsEntry("node-0", "mine");
    }

    @Test
    void a_node_that_begins_again_forgets_its_old_name() {
        have(4);
        assertThat(agent.demands()).containsOnlyKeys("node-0", "other");
        agent.beat(TERM.nanos(), LIMIT, 0, "");
        assertThat(agent.node()).isEqualTo("node-1");
        assertThat(agent.demands()).containsOnlyKeys("other");
    }

    @Test
    void an_answer_that_was_not_recorded_tells_nothing_of_the_others() {
        agent.answered(answer(agent.beat(0, LIMIT, 0, "mine"), 1), 1);
        Heartbeat late = agent.beat(2, LIMIT, 0, "mine");
        agent.answered(
                new SliceAnswer(
                        Outcome.STALE, late.sequence(), LedgerVersion.NONE, 0, false, false, Map.of(), Map.of()),
                3);
        assertThat(agent.demands()).containsKey("other");
    }
}
