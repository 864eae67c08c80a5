package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Units that are charged ahead come back to a rate after they are used, never before. */
class PrepaidRatesTest extends TwoPrepayingGateways {

    private static final Quota FAST = new Quota.Rate("fast", 100, Duration.ofSeconds(1), 3_200);
    /** Less than a unit comes back within a test. */
    private static final Quota SLOW = new Quota.Rate("slow", 10_000, Duration.ofDays(365), 10_000);

    /** Longer than Redis keeps a chunk that its gateway does not close. */
    private static final Duration BY_ITSELF = Duration.ofSeconds(2);

    private final UsedUnits used = new UsedUnits();

    @Test
    void a_gateway_makes_few_calls_for_many_requests() {
        assertThat(send(gateway, set(DAILY, FAST), 1_000)).isEqualTo(1_000);
        assertThat(near.calls).isLessThan(60);
        assertThat(leftLater(FAST)).isEqualTo(3_200);
        assertThat(leftLater(DAILY)).isEqualTo(999_000);
    }

    @Test
    void a_gateway_makes_fewer_calls_than_requests_at_half_of_a_rate_with_a_burst_of_a_second() {
        Quota rate = new Quota.Rate("rate", 200, Duration.ofSeconds(1), 200);
        assertThat(send(gateway, set(rate), 1_000)).isEqualTo(1_000);
        assertThat(near.calls).isLessThan(250);
    }

    @Test
    void what_is_not_used_is_given_back() {
        send(gateway, set(SLOW), 300);
        assertThat(leftNow(SLOW)).isLessThan(10_000 - 301);
        assertThat(leftLater(SLOW)).isEqualTo(10_000 - 300);
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void a_request_that_used_less_than_it_was_charged_gives_the_rest_back_after_its_chunk_has_ended() {
        QuotaSet set = set(SLOW, DAILY);
        send(gateway, set, 300);
        QuotaCharge charge = gateway.newCharge(set, 5);
        assertThat(charge.charge().toFuture()).isCompletedWithValueMatching(QuotaDecision::allowed);
        assertThat(leftLater(SLOW)).isEqualTo(10_000 - 305);
        charge.settle(1).subscribe();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(leftNow(SLOW)).isEqualTo(10_000 - 301);
        assertThat(leftNow(DAILY)).isEqualTo(1_000_000 - 301);
    }

    @Test
    void a_chunk_that_its_gateway_does_not_close_is_charged_and_comes_back_after_it_could_be_used() {
        Quota rate = new Quota.Rate("rate", 1_000, Duration.ofSeconds(1), 10_000);
        QuotaSet set = set(rate);
        send(gateway, set, 30);
        time.advanceBy(PrepaidUnits.LONGEST);
        send(gateway, set, 100);
        long atHand = 10_000 - leftNow(rate);
        assertThat(atHand).isBetween(50L, 150L);
        near.isLost = true;
        time.advanceBy(PrepaidUnits.LONGEST);
        assertThat(leftNow(rate)).isEqualTo(10_000 - atHand);
        time.advanceBy(BY_ITSELF);
        assertThat(leftNow(rate)).isEqualTo(10_000);
    }

    @Test
    void a_chunk_ends_by_itself_after_the_clock_of_redis_was_set_back() {
        send(gateway, set(FAST), 300);
        near.isLost = true;
        start = start.minusSeconds(3_600);
        assertThat(leftNow(FAST)).isLessThan(3_200);
        time.advanceBy(BY_ITSELF.plusSeconds(2));
        assertThat(leftNow(FAST)).isEqualTo(3_200);
    }

    @Test
    void a_gateway_closes_no_chunk_of_another_one_after_redis_has_lost_its_own() {
        QuotaSet set = set(SLOW);
        QuotaSet same = set(SLOW);
        for (int i = 0; i < 40; i++) {
            charged(gateway.newCharge(set, 1));
        }
        NearQuotas.redis().flushall();
        for (int i = 0; i < 40; i++) {
            charged(other.newCharge(same, 1));
        }
        long left = leftNow(SLOW);
        gateway.stopPrepaying();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(leftNow(SLOW)).isEqualTo(left).isLessThan(10_000 - 41);
    }

    @Test
    void redis_keeps_a_usage_as_long_as_one_of_its_chunks() {
        Quota rate = new Quota.Rate("rate", 100_000, Duration.ofMillis(100), 100_000);
        QuotaSet set = set(rate);
        List<String> before = NearQuotas.redis().time();
        send(gateway, set, 100);
        String key = new KeyedQuota(set.quotas().get(0)).key;
        assertThat(NearQuotas.redis().get(key)).contains(":");
        assertThat(NearQuotas.redis().pexpiretime(key))
                .isGreaterThan(1_000 * Long.parseLong(before.get(0))
                        + Long.parseLong(before.get(1)) / 1_000
                        + BY_ITSELF.toMillis());
    }

    /** The gateway that gives units back tells only Redis; what comes back thereby is not what another gateway has at hand. */
    @Test
    void no_burst_is_exceeded_when_others_give_units_back() {
        Quota rate = new Quota.Rate("rate", 1_000, Duration.ofSeconds(1), 3_200);
        QuotaSet set = set(rate);
        QuotaSet same = set(rate);
        for (int millis = 0; millis < 1_000; millis += 90) {
            QuotaCharge large = other.newCharge(same, 1_000);
            charged(large);
            for (int i = 0; i < 60; i++) {
                QuotaCharge unused = gateway.newCharge(set, 10);
                charged(unused);
                unused.settle(0).subscribe();
            }
            large.settle(0).subscribe();
            time.advanceBy(Duration.ofMillis(millis));
            useAllThatIsLeft(rate, same, set, "used after " + millis + " ms");
        }
    }

    @Test
    void a_chunk_that_is_charged_by_itself_does_not_come_back_when_an_earlier_request_is_settled() {
        QuotaSet set = set(FAST);
        send(set);
        QuotaCharge large = other.newCharge(set(FAST), 100);
        charged(large);
        near.isLost = true;
        time.advanceBy(BY_ITSELF.plusMillis(50));
        long left = leftNow(FAST);
        assertThat(left).isLessThan(3_200 - 10);
        large.settle(0).subscribe();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(leftNow(FAST)).isBetween(left, left + 3);
    }

    @Test
    void no_burst_is_exceeded_when_a_gateway_gives_back_what_its_requests_took() {
        QuotaSet set = set(FAST);
        QuotaSet same = set(FAST);
        for (int millis = 0; millis < 1_200; millis += 50) {
            send(set);
            List<QuotaCharge> unused = new ArrayList<>();
            for (int i = 0; i < 48; i++) {
                QuotaCharge charge = gateway.newCharge(set, 1);
                charged(charge);
                unused.add(charge);
            }
            time.advanceBy(Duration.ofMillis(millis));
            unused.forEach(charge -> charge.settle(0).subscribe());
            time.advanceBy(ONE_WAY.multipliedBy(4));
            useAllThatIsLeft(FAST, same, set, "settled after " + millis + " ms");
        }
    }

    /** Chunks that follow each other must not refuse it for ever. */
    @Test
    void a_large_request_that_chunks_hold_back_passes_soon() {
        Quota rate = new Quota.Rate("rate", 1_000, Duration.ofSeconds(1), 1_000);
        QuotaSet set = set(rate);
        QuotaSet same = set(rate);
        send(gateway, set, 200);
        QuotaDecision first = charged(other.newCharge(same, 950));
        assertThat(first.allowed()).isFalse();
        assertThat(first.retryAfter()).isBetween(Duration.ofMillis(500), BY_ITSELF);
        send(gateway, set, (int) first.retryAfter().dividedBy(GAP));
        assertThat(charged(other.newCharge(same, 950)).allowed()).isTrue();
    }

    @Test
    void a_large_request_is_no_longer_reported_by_a_quota_that_is_not_enforced_when_chunks_have_ended() {
        Quota rate = new Quota.Rate("rate", 1_000, Duration.ofSeconds(1), 1_000);
        OwnedQuota daily = set(DAILY).quotas().get(0);
        QuotaSet set = QuotaSet.of(List.of(daily, new OwnedQuota(daily.owner(), rate, false)));
        send(gateway, set, 200);
        assertThat(charged(gateway.newCharge(set, 950)).wouldRefuse()).containsExactly("rate");
        send(gateway, set, 250);
        assertThat(charged(gateway.newCharge(set, 950)).wouldRefuse()).isEmpty();
    }

    @Test
    void what_chunks_leave_above_a_lowered_burst_is_forgiven_after_a_minute() {
        Quota large = new Quota.Rate("rate", 10_000, Duration.ofHours(1), 10_000);
        Quota small = new Quota.Rate("rate", 10, Duration.ofHours(1), 10);
        QuotaSet set = set(large);
        QuotaCharge charge = other.newCharge(set(small), 1);
        charged(charge);
        for (int i = 0; i < 40; i++) {
            QuotaCharge unused = gateway.newCharge(set, 100);
            charged(unused);
            unused.settle(0).subscribe();
        }
        near.isLost = true;
        charge.settle(2).subscribe();
        time.advanceBy(BY_ITSELF.multipliedBy(2));
        assertThat(leftNow(small)).isZero();
        time.advanceBy(Duration.ofMinutes(62));
        assertThat(leftNow(small)).isGreaterThanOrEqualTo(9);
    }

    @Test
    void a_chunk_of_another_form_is_an_error_and_does_not_count_as_unused() {
        QuotaSet set = set(FAST);
        charged(gateway.newCharge(set, 1));
        String key = new KeyedQuota(set.quotas().get(0)).key;
        NearQuotas.redis().append(key, " 1:1:1:1");
        assertThat(gateway.newCharge(set, 1).charge().toFuture()).satisfies(decided -> {
            time.advanceBy(ONE_WAY.multipliedBy(4));
            assertThat(decided).isCompletedExceptionally();
        });
    }

    @Test
    void few_chunks_are_at_hand_of_a_group_with_many_tenants() {
        OwnedQuota shared = new OwnedQuota(QuotaOwner.group("corp"), SLOW, true);
        List<QuotaSet> sets = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            OwnedQuota own = QuotaSet.of(TenantId.of("t" + i), DAILY).quotas().get(0);
            sets.add(QuotaSet.of(List.of(own, shared)));
        }
        for (int i = 0; i < 20; i++) {
            sets.forEach(set -> gateway.newCharge(set, 1).charge().subscribe());
            time.advanceBy(Duration.ofMillis(20));
        }
        String usage = NearQuotas.redis().get(new KeyedQuota(shared).key);
        assertThat(usage.split(":")).hasSize(1 + 2 * 100);
        time.advanceBy(BY_ITSELF);
        QuotaSet set = QuotaSet.of(List.of(shared));
        assertThat(charged(other.newCharge(set, 10_000 - 150 * 20)).allowed()).isTrue();
    }

    /** About a hundred requests in a second. */
    private void send(QuotaSet set) {
        for (int i = 0; i < 100; i++) {
            use(gateway, set, 1);
            time.advanceBy(Duration.ofMillis(5));
        }
    }

    private void use(RedisQuotas at, QuotaSet set, long units) {
        long asked = time.now(TimeUnit.MICROSECONDS);
        at.newCharge(set, units).charge().subscribe(decision -> {
            long answered = time.now(TimeUnit.MICROSECONDS);
            if (decision.allowed()) {
                used.add(answered == asked ? answered : answered - ONE_WAY.toNanos() / 1_000, units);
            }
        });
        time.advanceBy(ONE_WAY.multipliedBy(4));
    }

    /** First at the other gateway, then at the one that has units at hand; then all comes back. */
    private void useAllThatIsLeft(Quota rate, QuotaSet atOther, QuotaSet atGateway, String when) {
        useAll(other, atOther);
        useAll(gateway, atGateway);
        used.check(rate, start, ONE_WAY.toNanos() / 1_000, when);
        time.advanceBy(Duration.ofSeconds(40));
    }

    private void useAll(RedisQuotas at, QuotaSet set) {
        for (long units = 2_048; units > 0; units /= 2) {
            use(at, set, units);
        }
    }
}
