package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Charges that are corrected when the actual cost of a request is known: once, and within bounds. */
abstract class SettlementContract extends QuotaTopic {

    SettlementContract(QuotasBackend backend) {
        super(backend);
    }

    @Test
    void the_difference_to_the_actual_cost_is_given_back_to_every_quota_or_charged_to_it() {
        settle(charged(EACH, 4), 0);
        assertSettled(EACH, 10L, 10L, 10L, 10L);
        settle(charged(EACH, 4), 1);
        assertSettled(EACH, 9L, 9L, 9L, 9L);
        settle(charged(EACH, 4), 6);
        assertSettled(EACH, 3L, 3L, 3L, 3L);
        settle(charged(EACH, 2), 2);
        assertSettled(EACH, 1L, 1L, 1L, 1L);
    }

    @Test
    void nothing_is_settled_before_subscription() {
        QuotaCharge charge = charged(EACH, 4);
        Mono<Void> lazy = charge.settle(0);
        answer();
        assertThat(charge.isCharged()).isTrue();
        assertSettled(EACH, 6L, 6L, 6L, 6L);
        answerOf(lazy);
        assertThat(charge.isCharged()).isFalse();
        assertSettled(EACH, 10L, 10L, 10L, 10L);
    }

    @Test
    void only_the_first_settlement_counts() {
        charged(EACH, 5);
        QuotaCharge charge = charged(EACH, 3);
        settle(charge, 1);
        settle(charge, 0);
        settle(charge, 9);
        assertSettled(EACH, 4L, 4L, 4L, 4L);
    }

    @Test
    void a_charge_that_was_settled_before_it_was_made_is_not_made() {
        QuotaCharge charge = quotas.newCharge(EACH, 4);
        settle(charge, 4);
        assertThat(answerOf(charge.charge()).allowed()).isTrue();
        assertThat(charge.isCharged()).isFalse();
        settle(charge, 0);
        assertSettled(EACH, 10L, 10L, 10L, 10L);
    }

    @Test
    void a_refused_charge_gives_nothing_back_and_owes_nothing() {
        charged(EACH, 8);
        for (long actual : new long[] {0, 9}) {
            QuotaCharge refused = quotas.newCharge(EACH, 4);
            assertThat(answerOf(refused.charge()).allowed()).isFalse();
            settle(refused, actual);
        }
        assertSettled(EACH, 2L, 2L, 2L, 2L);
    }

    @Test
    void a_late_settlement_gives_a_window_that_has_closed_nothing_back() {
        QuotaCharge charge = charged(EACH, 4);
        time.advanceBy(Duration.ofDays(1));
        charged(EACH, 5);
        assertSettled(EACH, 5L, 5L, 5L, 1L);
        settle(charge, 0);
        assertSettled(EACH, 5L, 5L, 5L, 5L);
    }

    @Test
    void units_that_the_time_has_given_back_to_a_rate_are_not_given_back_again() {
        QuotaSet rate = QuotaSet.of(TENANT, RATE);
        QuotaCharge charge = charged(rate, 10);
        time.advanceBy(Duration.ofHours(9));
        charged(rate, 9);
        settle(charge, 0);
        assertSettled(rate, 1L);
    }

    @Test
    void settlements_that_give_units_back_never_leave_more_than_the_limit() {
        QuotaCharge first = charged(EACH, 5);
        QuotaCharge second = charged(EACH, 5);
        settle(first, 0);
        settle(second, 0);
        assertSettled(EACH, 10L, 10L, 10L, 10L);
        QuotaSet windows = QuotaSet.of(TENANT, SLIDING, DAILY, TOTAL);
        assertThat(charge(windows, 11).allowed()).isFalse();
        charged(windows, 10);
        assertThat(charge(windows, 1).allowed()).isFalse();
    }

    @Test
    void settlements_in_another_order_than_the_charges_never_leave_more_than_the_limit() {
        QuotaCharge first = charged(EACH, 5);
        QuotaCharge second = charged(EACH, 5);
        settle(second, 0);
        settle(first, 0);
        assertThat(remaining(EACH)).allMatch(units -> units <= 10);
        QuotaSet windows = QuotaSet.of(TENANT, SLIDING, DAILY, TOTAL);
        assertRemaining(windows, 10L, 10L, 10L);
    }

    @Test
    void the_debts_of_all_requests_together_are_at_most_one_more_limit() {
        QuotaCharge first = charged(EACH, 1);
        QuotaCharge second = charged(EACH, 1);
        settle(first, Long.MAX_VALUE);
        settle(second, 500);
        assertSettled(EACH, 0L, 0L, 0L, 0L);
        // Of the rate 20 units and a part of one are used at most: one is free when 11 and that part have come back.
        QuotaSet rate = QuotaSet.of(TENANT, RATE);
        assertThat(check(rate, 1).retryAfter()).isBetween(Duration.ofHours(10), Duration.ofHours(12));
        time.advanceBy(Duration.ofHours(12));
        assertThat(check(rate, 1).allowed()).isTrue();
        time.advanceBy(Duration.ofHours(9));
        assertRemaining(EACH, 10L, 10L, 10L, 0L);
    }

    @Test
    void a_debt_is_charged_to_the_window_in_which_it_becomes_known() {
        QuotaSet windows = QuotaSet.of(TENANT, SLIDING, DAILY);
        QuotaCharge slow = charged(windows, 1);
        time.advanceBy(Duration.ofDays(1));
        settle(slow, 5);
        assertSettled(windows, 6L, 6L);
    }

    @Test
    void a_negative_cost_is_an_error() {
        QuotaCharge charge = charged(EACH, 4);
        assertThatThrownBy(() -> settle(charge, -1))
                .rootCause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("actual: -1 (expected: >= 0)");
        settle(charge, 0);
        assertSettled(EACH, 10L, 10L, 10L, 10L);
    }
}
