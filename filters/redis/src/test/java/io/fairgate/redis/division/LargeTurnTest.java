package io.fairgate.redis.division;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** A node that is entitled to 5 of 10 permits, and has a request for 10. */
class LargeTurnTest {

    private static final long MAX_COLLECT = TimeUnit.SECONDS.toNanos(1);
    private static final Offset<Double> CLOSE = offset(0.2);

    private final LargeTurn turn = new LargeTurn(TimeUnit.MILLISECONDS.toNanos(200));
    private final OwedPermits owed = new OwedPermits(0);
    private long now;

    private static NodeShare share(boolean isFirst) {
        return new NodeShare(isFirst ? 10 : 0, 5, true, isFirst, Map.of(), Map.of());
    }

    /** From now on it has this slice, for a time. */
    private void has(int slice, double seconds) {
        owed.update(now, share(false), slice);
        now += (long) (seconds * 1e9);
    }

    private void update(boolean isFirst, int slice) {
        turn.update(share(isFirst), 10, slice, 0, owed, MAX_COLLECT, now);
    }

    private double urgency() {
        return turn.urgency(owed, now);
    }

    private double owed() {
        return owed.permitSeconds(now);
    }

    @Test
    void a_request_is_as_urgent_as_the_node_is_owed() {
        assertThat(urgency()).isZero();
        has(0, 1);
        assertThat(urgency()).isEqualTo(5, CLOSE);
        has(10, 2);
        assertThat(urgency()).isEqualTo(-5, CLOSE);
    }

    @Test
    void in_its_turn_a_node_may_owe_a_second_of_the_permits() {
        update(true, 0);
        assertThat(urgency()).isEqualTo(10);
        has(10, 1.9);
        update(true, 10);
        assertThat(urgency()).isEqualTo(0.5, CLOSE);
        has(10, 0.2);
        update(true, 10);
        assertThat(urgency()).isEqualTo(-0.5, CLOSE);
        update(false, 10);
        assertThat(urgency()).as("its turn has ended").isEqualTo(-10.5, CLOSE).isEqualTo(owed());
    }

    @Test
    void a_turn_without_enough_permits_ends_after_max_collect_and_the_past_does_not_pay_for_it() {
        has(0, 10);
        assertThat(owed()).isGreaterThan(40);
        update(true, 3);
        has(7, 0.9);
        update(true, 7);
        assertThat(urgency()).isGreaterThan(40);
        has(7, 0.1);
        update(true, 7);
        assertThat(owed()).as("what was idle beyond its share").isEqualTo(-2, offset(1.0));
        assertThat(urgency()).as("others go first").isNegative();
        has(0, 0.9);
        assertThat(owed()).isPositive();
        assertThat(urgency()).isNegative();
        has(0, 0.2);
        assertThat(urgency()).isPositive();
    }

    @Test
    void waiting_without_a_permit_costs_nothing() {
        update(true, 0);
        has(0, 10);
        update(true, 0);
        assertThat(urgency()).isGreaterThan(40);
    }

    @Test
    void a_node_may_owe_twice_as_much_after_each_turn_in_vain() {
        for (int most = 10; most <= 40; most *= 2) {
            update(true, 0);
            assertThat(urgency() - owed()).isEqualTo(most);
            update(false, 0);
        }
        update(true, 10);
        assertThat(urgency() - owed()).as("with enough permits").isEqualTo(10);
        update(false, 10);
        update(true, 0);
        assertThat(urgency() - owed()).as("after a turn that was not in vain").isEqualTo(10);
    }

    @Test
    void a_turn_that_is_lost_to_a_more_urgent_one_is_paid_for() {
        has(0, 10);
        update(true, 1);
        has(4, 0.5);
        update(false, 4);
        assertThat(owed()).isZero();
        has(0, 1);
        update(true, 0);
        update(false, 0);
        assertThat(owed()).as("nothing was idle").isEqualTo(5, CLOSE);
    }

    @Test
    void without_a_request_turns_in_vain_are_forgotten() {
        update(true, 0);
        update(false, 0);
        turn.update(share(false), 0, 0, 0, owed, MAX_COLLECT, now);
        update(true, 0);
        assertThat(urgency()).isEqualTo(10);
    }

    @Test
    void a_larger_request_in_the_same_turn_has_max_collect_from_then_on() {
        has(0, 60);
        turn.update(share(true), 6, 6, 0, owed, MAX_COLLECT, now);
        has(6, 5);
        update(true, 9);
        has(9, 0.9);
        update(true, 9);
        assertThat(urgency()).isGreaterThan(50);
        has(9, 0.2);
        update(true, 9);
        assertThat(urgency()).as("others go first").isNegative();
        assertThat(owed()).isNegative();
    }

    @Test
    void a_turn_that_is_lost_at_once_costs_nothing() {
        has(0, 10);
        update(true, 1);
        has(1, 0.1);
        update(false, 1);
        assertThat(owed()).isGreaterThan(40);
    }

    @Test
    void leases_count_as_permits_for_the_request() {
        turn.update(share(true), 10, 6, 4, owed, MAX_COLLECT, now);
        now += 2 * MAX_COLLECT;
        turn.update(share(true), 10, 6, 4, owed, MAX_COLLECT, now);
        assertThat(urgency()).as("not in vain").isEqualTo(10);
    }
}
