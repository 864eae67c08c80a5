package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What is charged ahead of requests, and when it is given back. For rates see {@link PrepaidRatesTest}. */
class PrepaidUnitsTest extends TwoPrepayingGateways {

    @Test
    void a_gateway_makes_few_calls_for_many_requests() {
        assertThat(send(gateway, set(DAILY, new Quota.Sliding("sliding", 10_000, Duration.ofMinutes(1))), 1_000))
                .isEqualTo(1_000);
        assertThat(near.calls).isLessThan(60);
        assertThat(leftLater(DAILY)).isEqualTo(999_000);
    }

    @Test
    void a_settlement_charges_no_quota_that_the_request_was_not_charged() {
        Quota narrow = new Quota.Total("narrow", 2_000);
        OwnedQuota daily = set(DAILY).quotas().get(0);
        QuotaSet set = QuotaSet.of(List.of(daily, new OwnedQuota(daily.owner(), narrow, false)));
        send(gateway, set, 300);
        QuotaCharge large = gateway.newCharge(set, 1_990);
        assertThat(charged(large).wouldRefuse()).containsExactly("narrow");
        large.settle(1_995).subscribe();
        assertThat(leftLater(narrow)).isEqualTo(1_700);
        assertThat(leftNow(DAILY)).isEqualTo(1_000_000 - 300 - 1_995);
    }

    @Test
    void nothing_is_charged_ahead_for_long_where_units_can_be_used_for_milliseconds_only() {
        QuotaSet set = set(new Quota.Sliding("sliding", 100_000, Duration.ofMillis(600)));
        assertThat(send(gateway, set, 1_000)).isEqualTo(1_000);
        assertThat(near.calls).isBetween(1_000, 1_100);
    }

    @Test
    void a_tenant_with_few_requests_has_each_one_charged_by_itself() {
        QuotaSet set = set(DAILY);
        for (int i = 1; i <= 20; i++) {
            send(gateway, set, 1);
            assertThat(leftNow(DAILY)).isEqualTo(1_000_000 - i);
            time.advanceBy(Duration.ofMillis(300));
        }
        assertThat(near.calls).isEqualTo(20);
    }

    @Test
    void with_less_left_than_chunks_for_four_requests_need_each_one_is_charged_by_itself() {
        Quota total = new Quota.Total("total", 63);
        QuotaSet set = set(total);
        for (int i = 1; i <= 40; i++) {
            send(gateway, set, 1);
            assertThat(leftNow(total)).isEqualTo(63 - i);
        }
    }

    @Test
    void a_tenant_that_stops_keeps_nothing_and_makes_no_calls() {
        send(gateway, set(DAILY), 200);
        assertThat(leftNow(DAILY)).isLessThan(1_000_000 - 200);
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 200);
        int calls = near.calls;
        time.advanceBy(Duration.ofMinutes(1));
        assertThat(near.calls).isEqualTo(calls);
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void all_gateways_together_get_the_limit_to_the_unit() {
        Quota total = new Quota.Total("total", 3_000);
        QuotaSet one = set(total);
        QuotaSet two = set(total);
        long passed = 0;
        for (int i = 0; i < 40; i++) {
            passed += send(gateway, one, 60) + send(other, two, 40);
        }
        assertThat(passed).isEqualTo(3_000);
        assertThat(near.calls + far.calls).isLessThan(2_500);
    }

    @Test
    void what_a_gateway_has_at_hand_is_little_when_little_is_left() {
        Quota total = new Quota.Total("total", 1_600);
        QuotaSet set = set(total);
        for (int sent = 0; sent < 1_600; sent += 50) {
            send(gateway, set, 50);
            long unused = 1_600 - sent - 50 - leftNow(total);
            assertThat(unused).isLessThanOrEqualTo((1_600 - sent) * 2 / 16);
        }
        assertThat(leftNow(total)).isZero();
    }

    @Test
    void a_request_that_redis_refuses_uses_what_its_gateway_has_at_hand() {
        QuotaSet set = set(new Quota.Total("total", 1_000));
        send(gateway, set, 300);
        List<CompletableFuture<QuotaDecision>> decided = new ArrayList<>();
        for (int i = 0; i < 800; i++) {
            decided.add(gateway.newCharge(set, 1).charge().toFuture());
        }
        time.advanceBy(ONE_WAY.multipliedBy(40));
        assertThat(decided.stream().filter(each -> each.join().allowed())).hasSize(700);
    }

    @Test
    void a_quota_that_is_not_enforced_is_charged_too_and_beyond_it_each_request_is_charged_by_itself() {
        Quota narrow = new Quota.Total("narrow", 1_000);
        QuotaSet set = QuotaSet.of(List.of(
                set(DAILY).quotas().get(0),
                new OwnedQuota(set(DAILY).quotas().get(0).owner(), narrow, false)));
        assertThat(send(gateway, set, 900)).isEqualTo(900);
        assertThat(near.calls).isLessThan(400);
        assertThat(leftLater(narrow)).isEqualTo(100);
        int calls = near.calls;
        assertThat(send(gateway, set, 300)).isEqualTo(300);
        assertThat(near.calls - calls).isGreaterThan(250);
        QuotaDecision beyond = charged(gateway.newCharge(set, 1));
        assertThat(beyond.wouldRefuse()).containsExactly("narrow");
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 1_201);
    }

    @Test
    void balances_that_are_shown_leave_out_what_gateways_have_at_hand() {
        QuotaSet set = set(DAILY);
        long sent = 0;
        for (int i = 0; i < 300; i++) {
            QuotaDecision decision = charged(gateway.newCharge(set, 1));
            sent++;
            assertThat(decision.balances()).hasSize(1);
            assertThat(decision.balances().get(0).remaining()).isBetween(1_000_000 - sent - 1_000, 1_000_000 - sent);
            assertThat(decision.retryAfter()).isZero();
        }
    }

    @Test
    void a_settlement_is_made_without_a_call_when_units_are_at_hand() {
        QuotaSet set = set(DAILY);
        for (int i = 0; i < 300; i++) {
            long actual = List.of(2L, 5L).get(i % 2);
            QuotaCharge charge = gateway.newCharge(set, 2);
            charge.charge().flatMap(decision -> charge.settle(actual)).subscribe();
            time.advanceBy(GAP);
        }
        assertThat(near.calls).isLessThan(60);
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 150 * (2 + 5));
    }

    @Test
    void a_request_that_used_less_than_it_was_charged_gives_the_rest_back() {
        QuotaSet set = set(DAILY);
        send(gateway, set, 300);
        QuotaCharge charge = gateway.newCharge(set, 5);
        assertThat(charge.charge().toFuture()).isCompletedWithValueMatching(QuotaDecision::allowed);
        assertThat(charge.isCharged()).isTrue();
        charge.settle(1).subscribe();
        charge.settle(0).subscribe();
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 301);
    }

    @Test
    void what_a_request_gives_back_is_at_hand_for_the_next_ones() {
        QuotaSet set = set(DAILY);
        for (int i = 0; i < 500; i++) {
            QuotaCharge charge = gateway.newCharge(set, 1_000);
            charge.charge().flatMap(decision -> charge.settle(1)).subscribe();
            time.advanceBy(GAP);
        }
        assertThat(near.calls).isLessThan(50);
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 500);
    }

    /** Redis has charged the units at some time between the call and its answer. */
    @Test
    void what_a_day_has_left_is_not_used_on_the_next_one() {
        start = Instant.parse("2026-03-10T23:59:59Z");
        near.oneWay = Duration.ofMillis(100);
        QuotaSet set = set(DAILY);
        List<CompletableFuture<QuotaDecision>> decided = new ArrayList<>();
        int atOnce = 0;
        for (int millis = 0; millis < 1_150; millis += 5) {
            CompletableFuture<QuotaDecision> now =
                    gateway.newCharge(set, 1).charge().toFuture();
            boolean isAtOnce = now.isDone();
            atOnce += isAtOnce ? 1 : 0;
            assertThat(isAtOnce && millis >= 1_000)
                    .as("decided at once after %d ms", millis)
                    .isFalse();
            decided.add(now);
            time.advanceBy(Duration.ofMillis(5));
        }
        assertThat(atOnce).isGreaterThan(20);
        time.advanceBy(near.oneWay.multipliedBy(4));
        assertThat(decided).allMatch(CompletableFuture::isDone);
    }

    @Test
    void a_gateway_that_does_not_reach_redis_uses_what_it_has_at_hand_for_a_moment() {
        QuotaSet set = set(DAILY);
        send(gateway, set, 300);
        near.isLost = true;
        CompletableFuture<QuotaDecision> now =
                gateway.newCharge(set, 1).charge().toFuture();
        assertThat(now).isCompletedWithValueMatching(QuotaDecision::allowed);
        time.advanceBy(PrepaidUnits.LONGEST);
        CompletableFuture<QuotaDecision> later =
                gateway.newCharge(set, 1).charge().toFuture();
        time.advanceBy(QuotaCalls.PATIENCE);
        assertThat(later).isCompletedExceptionally();
        near.isLost = false;
        time.advanceBy(QuotaCalls.LONGEST_PAUSE.multipliedBy(2));
        assertThat(leftLater(DAILY)).isEqualTo(1_000_000 - 301);
    }

    @Test
    void a_gateway_that_is_shut_down_gives_back_what_it_has_at_hand() {
        send(gateway, set(DAILY), 300);
        assertThat(leftNow(DAILY)).isLessThan(1_000_000 - 300);
        gateway.stopPrepaying();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(leftNow(DAILY)).isEqualTo(1_000_000 - 300);
        int calls = near.calls;
        send(gateway, set(DAILY), 20);
        assertThat(near.calls - calls).isEqualTo(20);
    }

    @Test
    void a_check_needs_no_call_when_units_are_at_hand() {
        QuotaSet set = set(DAILY);
        send(gateway, set, 300);
        assertThat(gateway.check(set, 1).toFuture()).isCompletedWithValueMatching(QuotaDecision::allowed);
        CompletableFuture<QuotaDecision> more = gateway.check(set, 1_000).toFuture();
        assertThat(more).isNotDone();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(more).isCompletedWithValueMatching(QuotaDecision::allowed);
    }
}
