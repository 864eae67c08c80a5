package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** A reloaded policy has other numbers for the same quota. */
class ChangedQuotaTest {
    private final VirtualQuotas virtual = new VirtualQuotas();

    @Test
    void used_units_of_a_rate_stay_used_when_its_limit_is_raised() {
        virtual.charge(8, perMinute(10));
        assertThat(virtual.remaining(perMinute(20))).isEqualTo(12);
        assertThat(virtual.chargeAll(perMinute(20))).isEqualTo(12);
    }

    @Test
    void used_units_of_a_rate_stay_used_when_its_limit_is_lowered() {
        virtual.charge(3, perMinute(10));
        assertThat(virtual.remaining(perMinute(5))).isEqualTo(2);
        assertThat(virtual.chargeAll(perMinute(5))).isEqualTo(2);
        assertThat(virtual.check(1, perMinute(5)).retryAfter()).isEqualTo(Duration.ofSeconds(12));
    }

    @Test
    void a_lowered_burst_causes_no_debt() {
        virtual.charge(1_000_000, perMinute(1_000_000));
        assertThat(virtual.remaining(perMinute(5))).isZero();
        assertThat(virtual.check(1, perMinute(5)).retryAfter()).isEqualTo(Duration.ofSeconds(12));
        virtual.pass(Duration.ofSeconds(12));
        assertThat(virtual.chargeAll(perMinute(5))).isEqualTo(1);
    }

    @Test
    void a_raised_limit_helps_at_once_after_refusals() {
        virtual.chargeAll(perMinute(1));
        virtual.pass(Duration.ofSeconds(1));
        assertThat(virtual.charge(1, perMinute(1)).allowed()).isFalse();
        assertThat(virtual.check(1, perMinute(60)).allowed()).isTrue();
    }

    @Test
    void a_check_with_other_numbers_changes_nothing() {
        virtual.charge(10, perMinute(10));
        virtual.check(1, perMinute(1));
        virtual.check(1, perMinute(1000));
        assertThat(virtual.remaining(perMinute(10))).isZero();
        assertThat(virtual.check(10, perMinute(10)).retryAfter()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void a_changed_window_begins_unused_and_the_old_window_keeps_its_usage() {
        Quota.Rate perHour = new Quota.Rate("burst", 10, Duration.ofHours(1), 10);
        virtual.chargeAll(perMinute(10));
        assertThat(virtual.chargeAll(perHour)).isEqualTo(10);
        assertThat(virtual.remaining(perMinute(10))).isZero();
        assertThat(virtual.remaining(perHour)).isZero();
    }

    @Test
    void a_changed_kind_of_quota_begins_unused() {
        Quota.Calendar daily = new Quota.Calendar("burst", 10, CalendarUnit.DAY, ZoneOffset.UTC);
        Quota.Calendar monthly = new Quota.Calendar("burst", 10, CalendarUnit.MONTH, ZoneOffset.UTC);
        virtual.chargeAll(perMinute(10));
        assertThat(virtual.chargeAll(daily)).isEqualTo(10);
        assertThat(virtual.chargeAll(monthly)).isEqualTo(10);
    }

    @Test
    void a_calendar_quota_keeps_its_count_under_another_limit() {
        virtual.charge(8, daily(10, "UTC"));
        assertThat(virtual.remaining(daily(20, "UTC"))).isEqualTo(12);
        assertThat(virtual.remaining(daily(5, "UTC"))).isZero();
        assertThat(virtual.charge(1, daily(5, "UTC")).retryAfter()).isEqualTo(Duration.ofHours(12));
    }

    @Test
    void a_calendar_quota_keeps_its_usage_in_a_new_zone_until_the_window_there_ends() {
        virtual.setWallClock("2026-03-10T12:00:00Z");
        virtual.charge(8, daily(10, "UTC"));
        assertThat(virtual.charge(1, daily(10, "Europe/Berlin"))
                        .balances()
                        .get(0)
                        .remaining())
                .isEqualTo(1);
        virtual.setWallClock("2026-03-10T22:59:59Z");
        assertThat(virtual.remaining(daily(10, "Europe/Berlin"))).isEqualTo(1);
        virtual.setWallClock("2026-03-10T23:00:00Z");
        assertThat(virtual.remaining(daily(10, "Europe/Berlin"))).isEqualTo(10);
    }

    @Test
    void zones_that_change_back_and_forth_refill_nothing() {
        virtual.setWallClock("2026-03-10T23:30:00Z"); // already the 11th in Berlin
        long passed = 0;
        for (int i = 0; i < 5; i++) {
            passed += virtual.chargeAll(daily(10, "UTC"));
            passed += virtual.chargeAll(daily(10, "Europe/Berlin"));
        }
        assertThat(passed).isEqualTo(10);
    }

    private static Quota.Rate perMinute(long limit) {
        return new Quota.Rate("burst", limit, Duration.ofMinutes(1), limit);
    }

    private static Quota.Calendar daily(long limit, String zone) {
        return new Quota.Calendar("daily", limit, CalendarUnit.DAY, ZoneId.of(zone));
    }
}
