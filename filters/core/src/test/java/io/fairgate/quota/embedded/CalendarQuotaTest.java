package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class CalendarQuotaTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 10, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota.Calendar MONTHLY = new Quota.Calendar("monthly", 10, CalendarUnit.MONTH, ZoneOffset.UTC);

    private final VirtualQuotas virtual = new VirtualQuotas();

    @Test
    void the_limit_is_full_again_exactly_at_the_end_of_the_day() {
        virtual.setWallClock("2026-03-10T12:00:00Z");
        assertThat(virtual.chargeAll(DAILY)).isEqualTo(10);
        Duration retryAfter = virtual.charge(3, DAILY).retryAfter();
        assertThat(retryAfter).isEqualTo(Duration.ofHours(12));
        virtual.moveWallClock(retryAfter.minusMillis(1));
        assertThat(virtual.charge(3, DAILY).retryAfter()).isEqualTo(Duration.ofMillis(1));
        virtual.moveWallClock(Duration.ofMillis(1));
        assertThat(virtual.charge(3, DAILY).allowed()).isTrue();
        assertThat(virtual.remaining(DAILY)).isEqualTo(7);
    }

    @Test
    void the_monotonic_clock_does_not_affect_a_day() {
        virtual.chargeAll(DAILY);
        virtual.pass(Duration.ofDays(3));
        assertThat(virtual.charge(1, DAILY).allowed()).isFalse();
    }

    @Test
    void a_day_with_a_clock_change_is_one_window() {
        Quota.Calendar daily = new Quota.Calendar("daily", 10, CalendarUnit.DAY, BERLIN);
        virtual.setWallClock("2026-10-24T22:00:00Z");
        virtual.chargeAll(daily);
        assertThat(virtual.check(1, daily).retryAfter()).isEqualTo(Duration.ofHours(25));
        virtual.moveWallClock(Duration.ofHours(24)); // 23:00 in winter time, the same day
        assertThat(virtual.charge(1, daily).allowed()).isFalse();
        virtual.moveWallClock(Duration.ofHours(1));
        assertThat(virtual.charge(1, daily).allowed()).isTrue();
    }

    @Test
    void a_leap_day_belongs_to_february_and_a_month_ends_with_its_last_day() {
        virtual.setWallClock("2028-02-28T23:00:00Z");
        virtual.chargeAll(MONTHLY);
        assertThat(virtual.check(1, MONTHLY).retryAfter()).isEqualTo(Duration.ofHours(25));
        virtual.setWallClock("2028-02-29T23:59:59Z");
        assertThat(virtual.charge(1, MONTHLY).allowed()).isFalse();
        virtual.setWallClock("2028-03-01T00:00:00Z");
        assertThat(virtual.chargeAll(MONTHLY)).isEqualTo(10);
    }

    @Test
    void more_than_the_limit_never_passes() {
        assertThat(virtual.charge(11, DAILY).retryAfter()).isEqualTo(Balance.NEVER);
        assertThat(virtual.charge(Long.MAX_VALUE, DAILY).retryAfter()).isEqualTo(Balance.NEVER);
        assertThat(virtual.remaining(DAILY)).isEqualTo(10);
    }

    @Test
    void an_unused_window_is_full_and_a_used_window_is_full_after_its_end() {
        assertThat(virtual.check(1, DAILY).balances().get(0).untilFull()).isZero();
        Balance charged = virtual.charge(4, DAILY).balances().get(0);
        assertThat(charged.remaining()).isEqualTo(6);
        assertThat(charged.retryAfter()).isZero();
        assertThat(charged.untilFull()).isEqualTo(Duration.ofHours(12));
    }

    @Test
    void a_clock_set_back_within_the_day_keeps_the_count() {
        virtual.setWallClock("2026-03-10T12:00:00Z");
        virtual.charge(7, DAILY);
        virtual.setWallClock("2026-03-10T03:00:00Z");
        assertThat(virtual.chargeAll(DAILY)).isEqualTo(3);
    }

    @Test
    void a_clock_set_back_over_midnight_refills_nothing_and_charges_the_later_day() {
        virtual.setWallClock("2026-03-10T23:59:00Z");
        virtual.chargeAll(DAILY);
        virtual.setWallClock("2026-03-11T00:01:00Z");
        virtual.charge(6, DAILY);
        virtual.setWallClock("2026-03-10T23:59:00Z");
        assertThat(virtual.chargeAll(DAILY)).isEqualTo(4);
        assertThat(virtual.check(1, DAILY).retryAfter())
                .isEqualTo(Duration.ofHours(24).plusMinutes(1));
        virtual.setWallClock("2026-03-11T12:00:00Z");
        assertThat(virtual.charge(1, DAILY).allowed()).isFalse();
        virtual.setWallClock("2026-03-12T00:00:00Z");
        assertThat(virtual.chargeAll(DAILY)).isEqualTo(10);
    }

    @Test
    void a_clock_that_jumps_ahead_and_back_opens_the_next_day_only_once() {
        virtual.setWallClock("2026-03-10T23:30:00Z");
        long passed = 0;
        for (int i = 0; i < 5; i++) {
            passed += virtual.chargeAll(DAILY);
            virtual.moveWallClock(Duration.ofHours(1));
            passed += virtual.chargeAll(DAILY);
            virtual.moveWallClock(Duration.ofHours(-1));
        }
        virtual.setWallClock("2026-03-11T23:59:59Z");
        passed += virtual.chargeAll(DAILY);
        assertThat(passed).as("two days' worth in two days").isEqualTo(20);
    }
}
