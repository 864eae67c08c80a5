package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** Charges that are corrected when the cost of a request is known. */
class SettlementTest {
    private static final Quota.Rate RATE = new Quota.Rate("rate", 10, Duration.ofSeconds(1), 10);
    private static final Quota.Sliding SLIDING = new Quota.Sliding("sliding", 10, Duration.ofMinutes(1));
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 10, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota.Total TOTAL = new Quota.Total("total", 10);

    private final VirtualQuotas virtual = new VirtualQuotas();

    private void assertRemaining(long rate, long sliding, long daily, long total) {
        assertThat(virtual.check(1, RATE, SLIDING, DAILY, TOTAL).balances())
                .extracting(Balance::remaining)
                .containsExactly(rate, sliding, daily, total);
    }

    @Test
    void a_request_that_was_not_sent_is_given_back_to_every_quota() {
        QuotaCharge charge = virtual.charged(4, RATE, SLIDING, DAILY, TOTAL);
        assertRemaining(6, 6, 6, 6);
        virtual.settle(charge, 0);
        assertRemaining(10, 10, 10, 10);
    }

    @Test
    void the_difference_to_the_estimate_is_given_back_or_charged() {
        virtual.settle(virtual.charged(4, RATE, SLIDING, DAILY, TOTAL), 1);
        assertRemaining(9, 9, 9, 9);
        virtual.settle(virtual.charged(4, RATE, SLIDING, DAILY, TOTAL), 6);
        assertRemaining(3, 3, 3, 3);
    }

    @Test
    void only_the_first_settlement_counts() {
        virtual.charged(5, RATE, SLIDING, DAILY, TOTAL);
        QuotaCharge charge = virtual.charged(3, RATE, SLIDING, DAILY, TOTAL);
        virtual.settle(charge, 0);
        virtual.settle(charge, 0);
        virtual.settle(charge, 9);
        assertRemaining(5, 5, 5, 5);
    }

    @Test
    void a_window_that_has_ended_gets_nothing_back() {
        QuotaCharge charge = virtual.charged(4, RATE, SLIDING, DAILY, TOTAL);
        virtual.pass(Duration.ofMinutes(2));
        virtual.setWallClock("2026-03-11T00:00:00Z");
        virtual.charged(5, RATE, SLIDING, DAILY, TOTAL);
        assertRemaining(5, 5, 5, 1);
        virtual.settle(charge, 0);
        assertRemaining(5, 5, 5, 5);
    }

    @Test
    void units_that_a_rate_has_regained_are_not_given_back_again() {
        QuotaCharge charge = virtual.charged(10, RATE);
        virtual.pass(Duration.ofMillis(900));
        virtual.charged(9, RATE);
        virtual.settle(charge, 0);
        assertThat(virtual.remaining(RATE))
                .as("10 less the 9 of the second charge")
                .isEqualTo(1);
    }

    @Test
    void a_charge_that_is_settled_first_is_not_made() {
        QuotaCharge charge = virtual.quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, RATE, DAILY), 4);
        virtual.settle(charge, 0);
        assertThat(virtual.charge(charge).allowed()).isTrue();
        assertThat(charge.isCharged()).isFalse();
        assertThat(virtual.remaining(RATE)).isEqualTo(10);
    }

    @Test
    void a_refused_charge_gives_nothing_back() {
        virtual.charged(8, RATE);
        QuotaCharge refused = virtual.quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, RATE), 4);
        assertThat(virtual.charge(refused).allowed()).isFalse();
        virtual.settle(refused, 0);
        assertThat(virtual.remaining(RATE)).isEqualTo(2);
    }

    @Test
    void a_debt_is_at_most_one_limit() {
        virtual.settle(virtual.charged(1, RATE, SLIDING, DAILY), Long.MAX_VALUE);
        QuotaDecision refused = virtual.check(1, RATE, SLIDING, DAILY);
        assertThat(refused.balances()).extracting(Balance::remaining).containsOnly(0L);
        assertThat(refused.balances().get(0).retryAfter()).isEqualTo(Duration.ofMillis(1100));
        assertThat(refused.balances().get(1).retryAfter()).isEqualTo(Duration.ofSeconds(61));
        assertThat(refused.balances().get(2).retryAfter()).isEqualTo(Duration.ofHours(12));
        virtual.pass(Duration.ofMillis(1100));
        assertThat(virtual.check(1, RATE).allowed()).isTrue();
        virtual.setWallClock("2026-03-11T00:00:00Z");
        assertThat(virtual.remaining(DAILY))
                .as("a calendar's debt ends with its window")
                .isEqualTo(10);
    }

    @Test
    void several_debts_are_together_at_most_one_limit() {
        QuotaCharge first = virtual.charged(1, RATE, SLIDING);
        QuotaCharge second = virtual.charged(1, RATE, SLIDING);
        virtual.settle(first, 500);
        virtual.settle(second, 500);
        assertThat(virtual.balance(RATE).retryAfter()).isEqualTo(Duration.ofMillis(1100));
        virtual.pass(Duration.ofSeconds(61));
        assertThat(virtual.remaining(SLIDING)).isEqualTo(10);
    }

    @Test
    void several_debts_in_a_sliding_window_are_together_at_most_one_limit() {
        QuotaCharge first = virtual.charged(1, SLIDING);
        virtual.pass(Duration.ofSeconds(30));
        QuotaCharge second = virtual.charged(1, SLIDING);
        virtual.settle(first, 500);
        virtual.settle(second, 500);
        assertThat(virtual.remaining(SLIDING)).isZero();
        virtual.pass(Duration.ofSeconds(31));
        assertThat(virtual.balance(SLIDING).retryAfter())
                .as("debts count from their settlement")
                .isEqualTo(Duration.ofSeconds(30));
        virtual.pass(Duration.ofSeconds(30));
        assertThat(virtual.remaining(SLIDING)).isEqualTo(10);
    }

    @Test
    void a_late_debt_is_charged_to_the_current_window() {
        QuotaCharge slow = virtual.charged(1, SLIDING, DAILY);
        QuotaCharge unknown = virtual.charged(1, SLIDING, DAILY);
        virtual.pass(Duration.ofMinutes(2));
        virtual.setWallClock("2026-03-11T00:00:00Z");
        virtual.settle(slow, 5);
        assertThat(virtual.remaining(SLIDING)).isEqualTo(6);
        assertThat(virtual.remaining(DAILY)).isEqualTo(6);
        virtual.settle(unknown, Long.MAX_VALUE);
        assertThat(virtual.balance(SLIDING).retryAfter()).isEqualTo(Duration.ofSeconds(61));
        assertThat(virtual.balance(DAILY).retryAfter()).isEqualTo(Duration.ofDays(1));
        virtual.pass(Duration.ofSeconds(61));
        virtual.setWallClock("2026-03-12T00:00:00Z");
        assertThat(virtual.remaining(SLIDING)).isEqualTo(10);
        assertThat(virtual.remaining(DAILY)).isEqualTo(10);
    }

    @Test
    void a_charge_above_the_capacity_is_never_admitted() {
        for (Quota quota : new Quota[] {RATE, SLIDING, DAILY, TOTAL}) {
            assertThat(virtual.charge(11, quota).retryAfter()).as("%s", quota).isEqualTo(Balance.NEVER);
            assertThat(virtual.remaining(quota)).isEqualTo(10);
        }
    }

    /** Uses new names until the unused quotas are forgotten. */
    private void forgetWhatIsUnused() {
        for (int i = 0; i < 2 * Account.KEPT; i++) {
            virtual.charge(1, new Quota.Calendar("another-" + i, 1, CalendarUnit.HOUR, ZoneOffset.UTC));
        }
    }

    @Test
    void a_late_settlement_of_a_forgotten_usage_gives_nothing_back_but_charges_its_debt() {
        QuotaCharge nothing = virtual.charged(4, RATE, SLIDING, DAILY);
        QuotaCharge more = virtual.charged(1, RATE, SLIDING, DAILY);
        virtual.pass(Duration.ofDays(1));
        virtual.setWallClock("2026-03-11T12:00:00Z");
        forgetWhatIsUnused();
        virtual.charge(5, RATE, SLIDING, DAILY);
        virtual.settle(nothing, 0);
        assertRemaining(5, 5, 5, 10);
        virtual.settle(more, 3);
        assertRemaining(3, 3, 3, 10);
        virtual.setWallClock("2026-03-10T12:00:00Z");
        assertRemaining(3, 3, 3, 10);
    }

    @Test
    void a_debt_counts_even_if_the_quota_was_not_used_since_it_was_forgotten() {
        QuotaCharge charge = virtual.charged(1, RATE, SLIDING, DAILY);
        virtual.pass(Duration.ofDays(1));
        virtual.setWallClock("2026-03-11T12:00:00Z");
        forgetWhatIsUnused();
        virtual.settle(charge, 8);
        assertRemaining(3, 3, 3, 10);
    }

    @Test
    void a_total_never_refills() {
        virtual.charged(8, TOTAL);
        virtual.pass(Duration.ofDays(1000));
        virtual.setWallClock("2036-03-10T12:00:00Z");
        QuotaDecision refused = virtual.check(3, TOTAL);
        assertThat(refused.retryAfter()).isEqualTo(Balance.NEVER);
        assertThat(refused.balances().get(0).untilFull()).isEqualTo(Balance.NEVER);
        assertThat(virtual.charge(2, TOTAL).allowed()).isTrue();
    }
}
