package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutagePolicyTest {

    @Test
    void fail_closed_keeps_nothing_back_and_grants_nothing() {
        OutagePolicy closed = OutagePolicy.FAIL_CLOSED;
        assertThat(closed.divided(10, 3)).isEqualTo(10);
        assertThat(closed.reserve(10)).isZero();
        assertThat(closed.alone(10, 3)).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        // permits, gateways, part, reserve of each, divided
        "100, 2, 0.2, 10, 80",
        "100, 3, 0.5, 16, 52",
        "4, 2, 0.2, 1, 2",
        "2, 2, 1, 1, 0",
        "3, 2, 0.2, 0, 3",
        "1, 1, 0.2, 0, 1",
        "1, 1, 1, 1, 0",
    })
    void a_reserve_is_the_same_at_each_gateway_and_at_least_one_permit_of_a_pool_with_two_for_each(
            int permits, int gateways, double part, int reserve, int divided) {
        OutagePolicy policy = OutagePolicy.reserve(gateways, part);
        assertThat(policy.reserve(permits)).isEqualTo(reserve);
        assertThat(policy.alone(permits, 0)).isEqualTo(reserve);
        assertThat(policy.divided(permits, 0)).isEqualTo(divided);
        assertThat(policy.divided(permits, gateways)).isEqualTo(divided);
    }

    @Test
    void more_gateways_than_were_named_leave_less_to_divide() {
        OutagePolicy policy = OutagePolicy.reserve(2, 0.2);
        assertThat(policy.divided(100, 3)).isEqualTo(70);
        assertThat(policy.divided(100, 11)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 3, 3", "0, 11, 0", "0, 0, 0", "4, 0, 2", "4, 3, 2", "4, 5, 2"})
    void optimistic_is_an_equal_part_of_the_gateways_that_are_known_or_named(int named, int known, int permits) {
        OutagePolicy policy = OutagePolicy.optimistic(named);
        assertThat(policy.alone(10, known)).isEqualTo(permits);
        assertThat(policy.reserve(10)).isZero();
        assertThat(policy.divided(10, known)).isEqualTo(10);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.1, 1.01, Double.NaN})
    void a_fraction_out_of_range_is_refused(double part) {
        assertThatThrownBy(() -> OutagePolicy.reserve(2, part))
                .hasMessage(
                        "reserve of %s of a pool for 2 gateways (expected: a fraction above 0 and at most 1, and 1 gateway or more)"
                                .formatted(part));
    }

    @Test
    void a_number_of_gateways_out_of_range_is_refused() {
        assertThatThrownBy(() -> OutagePolicy.reserve(0, 0.5)).hasMessageContaining("for 0 gateways");
        assertThatThrownBy(() -> OutagePolicy.optimistic(-1)).hasMessage("gateways: -1 (expected: >= 0)");
    }

    @Test
    void a_pool_is_too_small_for_a_policy_that_would_grant_nothing_of_it() {
        assertThat(OutagePolicy.reserve(2, 0.2).isTooSmall(3)).isTrue();
        assertThat(OutagePolicy.reserve(2, 0.2).isTooSmall(4)).isFalse();
        assertThat(OutagePolicy.optimistic(4).isTooSmall(3)).isTrue();
        assertThat(OutagePolicy.optimistic(0).isTooSmall(1))
                .as("of an unknown number")
                .isFalse();
        assertThat(OutagePolicy.FAIL_CLOSED.isTooSmall(1)).isFalse();
    }

    @Test
    void its_text_is_the_setting_of_an_operator() {
        assertThat(OutagePolicy.FAIL_CLOSED).hasToString("fail-closed");
        assertThat(OutagePolicy.reserve(1, 1)).hasToString("reserve");
        assertThat(OutagePolicy.optimistic(0)).hasToString("optimistic");
    }
}
