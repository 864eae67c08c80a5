package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RateQuotaTest {
    private static final Quota.Rate THREE_PER_SECOND = new Quota.Rate("burst", 3, Duration.ofSeconds(1), 3);
    private static final Duration ONE_NANO = Duration.ofNanos(1);

    private final VirtualQuotas virtual = new VirtualQuotas();

    @Test
    void the_burst_passes_at_once_and_the_next_unit_waits() {
        assertThat(virtual.chargeAll(THREE_PER_SECOND)).isEqualTo(3);
        QuotaDecision refused = virtual.charge(1, THREE_PER_SECOND);
        assertThat(refused.violated()).containsExactly("burst");
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofNanos(333_333_334));
    }

    @Test
    void a_retry_passes_exactly_at_the_announced_time() {
        virtual.chargeAll(THREE_PER_SECOND);
        Duration retryAfter = virtual.charge(2, THREE_PER_SECOND).retryAfter();
        virtual.pass(retryAfter.minus(ONE_NANO));
        assertThat(virtual.charge(2, THREE_PER_SECOND).retryAfter()).isEqualTo(ONE_NANO);
        virtual.pass(ONE_NANO);
        assertThat(virtual.charge(2, THREE_PER_SECOND).allowed()).isTrue();
    }

    /** A burst of one cannot save up: the announced retry is rounded up, and the tenant loses the rest of that nanosecond. */
    @Test
    void a_burst_of_one_spaces_units_by_nanoseconds_rounded_up() {
        Quota.Rate rate = new Quota.Rate("burst", 3, Duration.ofSeconds(1), 1);
        long passed = virtual.chargeAll(rate);
        for (int i = 0; i < 30_000; i++) {
            virtual.pass(virtual.check(1, rate).retryAfter());
            passed += virtual.chargeAll(rate);
        }
        assertThat(passed).isEqualTo(30_001);
        assertThat(virtual.nanos()).isEqualTo(30_000 * 333_333_334L);
        virtual.pass(Duration.ofDays(1));
        assertThat(virtual.chargeAll(rate)).isEqualTo(1);
    }

    @Test
    void fractions_of_a_unit_add_up_over_many_charges() {
        Quota.Rate rate = new Quota.Rate("burst", 3, Duration.ofSeconds(1), 300);
        virtual.charge(299, rate);
        for (int i = 0; i < 1000; i++) {
            virtual.pass(Duration.ofNanos(333_333_333)); // refills a billionth of a unit less than is charged
            virtual.charge(1, rate);
        }
        virtual.pass(Duration.ofNanos(333));
        assertThat(virtual.remaining(rate)).isZero();
        virtual.pass(ONE_NANO);
        assertThat(virtual.remaining(rate)).isEqualTo(1);
    }

    @Test
    void more_than_the_burst_never_passes_even_with_a_full_balance() {
        QuotaDecision refused = virtual.charge(4, THREE_PER_SECOND);
        assertThat(refused.allowed()).isFalse();
        assertThat(refused.retryAfter()).isEqualTo(Balance.NEVER);
        assertThat(virtual.charge(Long.MAX_VALUE, THREE_PER_SECOND).retryAfter())
                .isEqualTo(Balance.NEVER);
        assertThat(virtual.remaining(THREE_PER_SECOND)).isEqualTo(3);
    }

    @Test
    void the_balance_is_rounded_down_and_the_time_until_full_is_rounded_up() {
        Balance charged = virtual.charge(1, THREE_PER_SECOND).balances().get(0);
        assertThat(charged.remaining()).isEqualTo(2);
        assertThat(charged.retryAfter()).isZero();
        assertThat(charged.untilFull()).isEqualTo(Duration.ofNanos(333_333_334));

        virtual.pass(charged.untilFull().minus(ONE_NANO));
        Balance almost = virtual.check(1, THREE_PER_SECOND).balances().get(0);
        assertThat(almost.remaining()).isEqualTo(2);
        assertThat(almost.untilFull()).isEqualTo(ONE_NANO);

        virtual.pass(ONE_NANO);
        Balance full = virtual.check(1, THREE_PER_SECOND).balances().get(0);
        assertThat(full.remaining()).isEqualTo(3);
        assertThat(full.untilFull()).isZero();
    }

    @Test
    void the_wall_clock_does_not_affect_a_rate() {
        virtual.chargeAll(THREE_PER_SECOND);
        virtual.moveWallClock(Duration.ofDays(1));
        assertThat(virtual.charge(1, THREE_PER_SECOND).allowed()).isFalse();
        virtual.moveWallClock(Duration.ofDays(-2));
        virtual.pass(Duration.ofSeconds(1));
        assertThat(virtual.chargeAll(THREE_PER_SECOND)).isEqualTo(3);
    }

    @Test
    void a_wait_beyond_the_range_of_the_clock_is_not_never() {
        Quota.Rate slow = new Quota.Rate("slow", 1, Duration.ofDays(366), Quota.MAX_LIMIT);
        Balance charged = virtual.charge(Quota.MAX_LIMIT, slow).balances().get(0);
        assertThat(charged.untilFull())
                .isGreaterThanOrEqualTo(Duration.ofNanos(Long.MAX_VALUE))
                .isLessThan(Balance.NEVER);
        assertThat(virtual.charge(1, slow).retryAfter()).isEqualTo(Duration.ofDays(366));
        virtual.pass(Duration.ofDays(366));
        assertThat(virtual.chargeAll(slow)).isEqualTo(1);
    }

    /** {@code System.nanoTime} may begin at any value. */
    @Test
    void the_clock_may_wrap_around() {
        long start = Long.MAX_VALUE - ONE_NANO.toNanos();
        RateUsage used = new RateUsage(THREE_PER_SECOND, start);
        assertThat(used.passes(THREE_PER_SECOND, 3, at(start))).isTrue();
        used.charge(3);
        assertThat(used.passes(THREE_PER_SECOND, 3, at(start + 999_999_999))).isFalse();
        assertThat(used.passes(THREE_PER_SECOND, 3, at(start + 1_000_000_000))).isTrue();
    }

    @Test
    void an_early_reading_of_the_clock_refills_nothing_early() {
        RateUsage used = new RateUsage(THREE_PER_SECOND, 1000);
        assertThat(used.passes(THREE_PER_SECOND, 3, at(1000))).isTrue();
        used.charge(3);
        OwnedQuota quota = new OwnedQuota(QuotaOwner.tenant(VirtualQuotas.ACME), THREE_PER_SECOND, true);
        assertThat(used.balance(quota, 3, at(900)).retryAfter()).isEqualTo(Duration.ofNanos(1_000_000_100));
    }

    private static ClockReading at(long nanos) {
        ClockReading now = new ClockReading();
        now.nanos = nanos;
        return now;
    }
}
