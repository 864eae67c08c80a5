package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Several gateways at the script in a real Redis, on the clock of the test, and a network that fails. */
class SharedQuotasTest {

    private static final Duration ONE_WAY = Duration.ofMillis(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final TenantId ACME = TenantId.of("acme");
    private static final Quota TOTAL = new Quota.Total("total", 10);
    private static final Quota DAILY = new Quota.Calendar("daily", 10, CalendarUnit.DAY, ZoneOffset.UTC);

    private final TestTime time = new TestTime();
    private Instant start = Instant.parse("2026-03-10T12:00:00Z");
    private final NearQuotas near = ledger(this::wall);
    private final Quotas gateway = gateway("one", near);
    private final Quotas other = gateway("two", ledger(this::wall));

    @BeforeEach
    void clear() {
        NearQuotas.redis().flushall();
    }

    private Instant wall() {
        return start.plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    private NearQuotas ledger(InstantSource own) {
        return new NearQuotas(time, this::wall, own, ONE_WAY);
    }

    private RedisQuotas gateway(String name, NearQuotas ledger) {
        return new RedisQuotas(ledger, QuotaOutagePolicy.FAIL_CLOSED, time, name, true);
    }

    private static QuotaSet set(Quota... quotas) {
        return QuotaSet.of(ACME, quotas);
    }

    private void pass(Duration duration) {
        time.advanceBy(duration);
    }

    /** Two messages. */
    private void passOneCall() {
        pass(ONE_WAY.multipliedBy(2));
    }

    private <T> T answer(Mono<T> call) {
        CompletableFuture<T> answered = call.toFuture();
        passOneCall();
        assertThat(answered).isDone();
        return answered.join();
    }

    private boolean charge(Quotas at, Quota... quotas) {
        return answer(at.newCharge(set(quotas), 1).charge()).allowed();
    }

    private long left(Quota quota) {
        return answer(other.balances(set(quota))).get(0).remaining();
    }

    @Test
    void all_gateways_together_get_the_limit_to_the_unit() {
        for (Quota quota : List.of(
                TOTAL,
                DAILY,
                new Quota.Sliding("sliding", 10, DAY),
                new Quota.Rate("rate", 10, DAY.multipliedBy(300), 10))) {
            List<CompletableFuture<QuotaDecision>> asked = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                asked.add((i % 3 == 0 ? gateway : other)
                        .newCharge(set(quota), 1)
                        .charge()
                        .toFuture());
            }
            pass(ONE_WAY.multipliedBy(4));
            assertThat(asked).as("%s", quota).allMatch(CompletableFuture::isDone);
            assertThat(asked.stream().filter(each -> each.join().allowed()))
                    .as("%s", quota)
                    .hasSize(10);
        }
    }

    @Test
    void a_decision_has_the_balance_after_it_also_of_what_others_have_charged() {
        assertThat(charge(other, TOTAL)).isTrue();
        QuotaDecision decision = answer(gateway.newCharge(set(TOTAL), 3).charge());
        assertThat(decision.balances()).extracting(Balance::remaining).containsExactly(6L);
    }

    @Test
    void calls_that_come_while_one_is_on_its_way_go_together() {
        CompletableFuture<QuotaDecision> first = gateway.check(set(TOTAL), 1).toFuture();
        List<CompletableFuture<QuotaDecision>> later = new ArrayList<>();
        for (int i = 0; i < QuotaCalls.MOST_CALLS + 1; i++) {
            later.add(gateway.check(set(TOTAL), 1).toFuture());
        }
        passOneCall();
        assertThat(first).isDone();
        assertThat(later).noneMatch(CompletableFuture::isDone);
        passOneCall();
        assertThat(later.stream().filter(CompletableFuture::isDone)).hasSize(QuotaCalls.MOST_CALLS);
        passOneCall();
        assertThat(later).allMatch(CompletableFuture::isDone);
        assertThat(near.calls).isEqualTo(3);
    }

    @Test
    void two_subscriptions_of_a_charge_get_the_same_decision() {
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 10);
        CompletableFuture<QuotaDecision> first = charge.charge().toFuture();
        CompletableFuture<QuotaDecision> second = charge.charge().toFuture();
        pass(ONE_WAY.multipliedBy(4));
        assertThat(first.join().allowed()).isTrue();
        assertThat(second.join().allowed()).isTrue();
    }

    @Test
    void a_set_knows_whether_its_last_decision_was_a_refusal() {
        QuotaSet set = set(TOTAL);
        answer(gateway.newCharge(set, 11).charge());
        assertThat(set.refusedLast()).isTrue();
        answer(gateway.check(set, 1));
        assertThat(set.refusedLast()).isFalse();
        answer(gateway.check(set, 11));
        assertThat(set.refusedLast()).isTrue();
        answer(gateway.newCharge(set, 1).charge());
        assertThat(set.refusedLast()).isFalse();
    }

    // ---- a network that fails ----

    private static void assertUnavailable(CompletableFuture<?> call) {
        assertThat(call).isDone();
        assertThatThrownBy(call::join).hasCauseInstanceOf(QuotasUnavailableException.class);
    }

    @Test
    void a_charge_whose_answer_is_lost_is_made_once_and_settled_when_its_answer_comes() {
        answer(gateway.check(set(TOTAL), 1));
        near.calls = 0;
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        near.isAnswerLost = true;
        CompletableFuture<QuotaDecision> asked = charge.charge().toFuture();
        pass(QuotaCalls.PATIENCE);
        assertUnavailable(asked);
        assertThat(left(TOTAL)).isEqualTo(6);
        pass(Duration.ofSeconds(5));
        assertThat(near.calls).as("it is sent again, at growing intervals").isBetween(4, 10);
        assertThat(left(TOTAL)).as("and has an effect once").isEqualTo(6);
        assertThat(charge.isCharged()).isFalse();
        charge.settle(0).subscribe();
        near.isAnswerLost = false;
        pass(QuotaCalls.LONGEST_PAUSE.plus(QuotaCalls.PATIENCE));
        passOneCall();
        assertThat(left(TOTAL)).isEqualTo(10);
        assertThat(charge(gateway, TOTAL)).isTrue();
    }

    @Test
    void a_charge_whose_answer_is_lost_and_that_is_not_settled_is_charged_when_its_answer_comes() {
        answer(gateway.check(set(TOTAL), 1));
        near.calls = 0;
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        near.isAnswerLost = true;
        charge.charge().subscribe(decision -> {}, failed -> {});
        pass(QuotaCalls.PATIENCE);
        assertUnavailable(charge.charge().toFuture());
        near.isAnswerLost = false;
        pass(QuotaCalls.LONGEST_PAUSE);
        assertThat(charge.isCharged()).isTrue();
        assertThat(answer(charge.charge()).allowed()).as("only checks").isTrue();
        assertThat(left(TOTAL)).isEqualTo(6);
    }

    @Test
    void while_redis_does_not_answer_calls_fail_at_once_and_few_are_sent() {
        near.isLost = true;
        CompletableFuture<Boolean> first =
                gateway.check(set(TOTAL), 1).map(QuotaDecision::allowed).toFuture();
        CompletableFuture<Boolean> behind =
                gateway.check(set(TOTAL), 1).map(QuotaDecision::allowed).toFuture();
        pass(ONE_WAY);
        assertUnavailable(first);
        assertUnavailable(behind);
        assertUnavailable(gateway.newCharge(set(TOTAL), 1).charge().toFuture());
        pass(QuotaCalls.FIRST_PAUSE);
        near.isLost = false;
        pass(QuotaCalls.FIRST_PAUSE.multipliedBy(2));
        passOneCall();
        assertThat(charge(gateway, TOTAL)).isTrue();
        assertThat(near.calls).as("the first one again, and the last one").isEqualTo(2);
    }

    @Test
    void the_first_call_may_wait_longer_for_the_connection() {
        near.isAnswerLost = true;
        CompletableFuture<QuotaDecision> first = gateway.check(set(TOTAL), 1).toFuture();
        pass(QuotaCalls.FIRST_PATIENCE.minusMillis(1));
        assertThat(first).isNotDone();
        pass(Duration.ofMillis(1));
        assertUnavailable(first);
    }

    @Test
    void a_charge_that_redis_has_not_got_is_not_made_later() {
        answer(gateway.check(set(TOTAL), 1));
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        near.isLost = true;
        charge.charge().subscribe(decision -> {}, failed -> {});
        pass(ONE_WAY);
        QuotaBatch lost = near.last;
        near.isLost = false;
        pass(QuotaCalls.LONGEST_PAUSE);
        assertThat(left(TOTAL)).isEqualTo(10);
        near.execute(lost); // as a client of Redis may do that has connected again
        assertThat(left(TOTAL)).as("nor when it arrives after all").isEqualTo(10);
        assertThat(answer(charge.charge()).allowed())
                .as("unless it is asked for again")
                .isTrue();
        assertThat(left(TOTAL)).isEqualTo(6);
    }

    @Test
    void a_settlement_before_the_answer_completes_when_the_units_are_back() {
        gateway.check(set(TOTAL), 1).subscribe();
        passOneCall();
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        charge.charge().subscribe();
        CompletableFuture<Void> settled = charge.settle(0).toFuture();
        passOneCall();
        assertThat(settled).isNotDone();
        assertThat(left(TOTAL)).isEqualTo(10);
        assertThat(settled).isCompleted();
    }

    @Test
    void quotas_that_are_not_enforced_refuse_nothing_when_redis_is_lost() {
        QuotaSet trial = QuotaSet.of(List.of(new OwnedQuota(QuotaOwner.tenant(ACME), TOTAL, false)));
        near.isLost = true;
        CompletableFuture<QuotaDecision> first = gateway.check(trial, 1).toFuture();
        pass(ONE_WAY);
        assertThat(first.join().allowed()).isTrue();
        assertThat(gateway.newCharge(trial, 1).charge().toFuture().join().allowed())
                .isTrue();
    }

    @Test
    void calls_that_would_wait_for_too_long_fail_and_so_do_too_many() {
        answer(gateway.check(set(TOTAL), 1));
        near.oneWay = QuotaCalls.PATIENCE.multipliedBy(4).dividedBy(10);
        List<CompletableFuture<QuotaDecision>> asked = new ArrayList<>();
        for (int i = 0; i <= QuotaCalls.MOST_WAITING + 1; i++) {
            asked.add(gateway.check(set(TOTAL), 1).toFuture());
        }
        assertUnavailable(asked.get(QuotaCalls.MOST_WAITING + 1));
        assertThat(asked.get(QuotaCalls.MOST_WAITING)).isNotDone();
        pass(QuotaCalls.PATIENCE.multipliedBy(8).dividedBy(10));
        assertThat(asked.get(0).join().allowed()).isTrue();
        pass(QuotaCalls.PATIENCE.multipliedBy(8).dividedBy(10));
        assertThat(asked.get(1).join().allowed()).isTrue();
        assertUnavailable(asked.get(QuotaCalls.MOST_CALLS + 1));
    }

    @Test
    void a_charge_that_is_settled_while_it_waits_is_not_made() {
        gateway.check(set(TOTAL), 1).subscribe();
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        CompletableFuture<QuotaDecision> decision = charge.charge().toFuture();
        CompletableFuture<Void> settled = charge.settle(0).toFuture();
        pass(ONE_WAY.multipliedBy(4));
        assertThat(settled).isCompleted();
        assertThat(decision.join().balances())
                .extracting(Balance::remaining)
                .as("only checked")
                .containsExactly(10L);
    }

    @Test
    void a_caller_that_throws_does_not_keep_others_from_their_answers() {
        QuotaCalls calls = new QuotaCalls(near, new QuotaLog(false), time, "three");
        AtomicInteger answers = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            calls.submit(new QuotaCall(QuotaCall.What.CHECK, new KeyedQuotas(set(TOTAL)), 1) {
                @Override
                void answered(QuotaAnswer answer) {
                    answers.incrementAndGet();
                    throw new IllegalStateException("a caller");
                }

                @Override
                void failed(Throwable why, boolean isSent, boolean isOutage) {
                    answers.incrementAndGet();
                    throw new IllegalStateException("a caller");
                }
            });
        }
        pass(ONE_WAY.multipliedBy(4));
        assertThat(answers).hasValue(3);
    }

    @Test
    void a_caller_that_throws_does_not_keep_the_next_call_from_its_answer() {
        near.isLost = true;
        gateway.check(set(TOTAL), 1).subscribe(decision -> {}, failed -> {
            throw new IllegalStateException("a caller");
        });
        pass(ONE_WAY);
        near.isLost = false;
        pass(QuotaCalls.LONGEST_PAUSE);
        assertThat(charge(gateway, TOTAL)).isTrue();
    }

    @Test
    void calls_behind_the_first_one_may_wait_as_long() {
        near.oneWay = QuotaCalls.FIRST_PATIENCE.dividedBy(4);
        gateway.check(set(TOTAL), 1).subscribe();
        CompletableFuture<QuotaDecision> second = gateway.check(set(TOTAL), 1).toFuture();
        pass(QuotaCalls.FIRST_PATIENCE.dividedBy(2).minusNanos(1));
        near.oneWay = ONE_WAY;
        pass(ONE_WAY.multipliedBy(3));
        assertThat(second).isCompleted();
    }

    @Test
    void a_charge_that_was_not_sent_can_be_made_later() {
        near.isLost = true;
        gateway.check(set(TOTAL), 1).subscribe(decision -> {}, failed -> {});
        pass(ONE_WAY);
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        assertUnavailable(charge.charge().toFuture());
        near.isLost = false;
        pass(QuotaCalls.LONGEST_PAUSE);
        assertThat(answer(charge.charge()).allowed()).isTrue();
        assertThat(charge.isCharged()).isTrue();
        assertThat(left(TOTAL)).isEqualTo(6);
        QuotaCharge again = gateway.newCharge(set(TOTAL), 4);
        near.isLost = true;
        gateway.check(set(TOTAL), 1).subscribe(decision -> {}, failed -> {});
        pass(ONE_WAY);
        assertUnavailable(again.charge().toFuture());
        near.isLost = false;
        pass(QuotaCalls.LONGEST_PAUSE);
        again.charge().subscribe();
        CompletableFuture<Void> settled = again.settle(0).toFuture();
        assertThat(settled).as("not before its answer").isNotDone();
        pass(ONE_WAY.multipliedBy(4));
        assertThat(settled).isCompleted();
        assertThat(left(TOTAL)).isEqualTo(6);
    }

    @Test
    void after_half_an_hour_without_an_answer_it_is_not_known_what_was_done() {
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 4);
        answer(charge.charge());
        near.isLost = true;
        CompletableFuture<Void> settled = charge.settle(0).toFuture();
        QuotaCharge unknown = gateway.newCharge(set(TOTAL), 3);
        unknown.charge().subscribe(decision -> {}, failed -> {});
        CompletableFuture<Void> unknownSettled = unknown.settle(0).toFuture();
        pass(QuotaCalls.LONGEST_SILENCE.plus(QuotaCalls.LONGEST_PAUSE.multipliedBy(2)));
        assertUnavailable(settled);
        assertThat(unknownSettled).isCompleted();
        near.isLost = false;
        pass(QuotaCalls.LONGEST_PAUSE.multipliedBy(2));
        assertThat(left(TOTAL)).as("not given back, which could be twice").isEqualTo(6);
        assertThat(charge(gateway, TOTAL)).isTrue();
        assertThat(left(TOTAL)).isEqualTo(5);
    }

    @Test
    void the_settlement_of_a_charge_that_is_never_answered_ends() {
        answer(gateway.check(set(TOTAL), 1));
        near.isLost = true;
        QuotaCharge charge = gateway.newCharge(set(TOTAL), 3);
        charge.charge().subscribe(decision -> {}, failed -> {});
        pass(ONE_WAY);
        CompletableFuture<Void> settled = charge.settle(0).toFuture();
        pass(QuotaCalls.LONGEST_SILENCE.minusSeconds(2));
        assertThat(settled).isNotDone();
        pass(QuotaCalls.LONGEST_PAUSE.multipliedBy(4));
        assertThat(settled).isCompleted();
    }

    @Test
    void quotas_that_are_closed_send_nothing_again() {
        near.isLost = true;
        gateway.check(set(TOTAL), 1).subscribe(decision -> {}, failed -> {});
        ((RedisQuotas) gateway).close();
        passOneCall();
        assertThat(time.timersLeft()).isZero();
    }

    // ---- clocks ----

    @Test
    void the_clock_of_redis_decides_which_day_it_is() {
        Quotas slow = gateway("slow", ledger(() -> wall().minus(DAY.multipliedBy(3))));
        Quotas fast = gateway("fast", ledger(() -> wall().plus(DAY.multipliedBy(400))));
        for (Quotas at : List.of(slow, fast)) {
            CompletableFuture<QuotaDecision> charged =
                    at.newCharge(set(DAILY), 1).charge().toFuture();
            passOneCall();
            assertThat(charged).as("asked for another day").isNotDone();
            passOneCall();
            assertThat(charged).isDone();
            assertThat(charge(at, DAILY)).as("knows the day by now").isTrue();
        }
        assertThat(left(DAILY)).isEqualTo(6);
        assertThat(answer(other.check(set(DAILY), 7)).retryAfter())
                .isBetween(Duration.ofHours(11), Duration.ofHours(12));
    }

    @Test
    void a_day_ends_by_the_clock_of_redis() {
        for (int i = 0; i < 10; i++) {
            assertThat(charge(gateway, DAILY)).isTrue();
        }
        assertThat(charge(gateway, DAILY)).isFalse();
        start = start.plus(Duration.ofHours(12)); // Redis' clock alone
        CompletableFuture<QuotaDecision> tomorrow =
                gateway.newCharge(set(DAILY), 1).charge().toFuture();
        pass(ONE_WAY.multipliedBy(4));
        assertThat(tomorrow.join().allowed()).isTrue();
        start = start.minus(Duration.ofHours(13));
        CompletableFuture<QuotaDecision> back =
                gateway.newCharge(set(DAILY), 10).charge().toFuture();
        pass(ONE_WAY.multipliedBy(4));
        assertThat(back.join().allowed())
                .as("a clock that is set back refills nothing")
                .isFalse();
        assertThat(charge(gateway, DAILY)).as("to the day that was reached").isTrue();
        start = start.plus(Duration.ofHours(13));
        pass(ONE_WAY.multipliedBy(2));
        assertThat(balanceAfterTwoCalls(DAILY)).isEqualTo(8);
    }

    private long balanceAfterTwoCalls(Quota quota) {
        CompletableFuture<List<Balance>> asked = other.balances(set(quota)).toFuture();
        pass(ONE_WAY.multipliedBy(4));
        return asked.join().get(0).remaining();
    }

    @Test
    void a_clock_that_is_set_back_refills_no_rate_and_no_sliding_window() {
        Quota rate = new Quota.Rate("rate", 10, DAY, 10);
        Quota sliding = new Quota.Sliding("sliding", 10, DAY);
        QuotaSet set = set(rate, sliding);
        assertThat(answer(gateway.newCharge(set, 10).charge()).allowed()).isTrue();
        start = start.minus(DAY.multipliedBy(100));
        QuotaDecision refused = answer(gateway.check(set, 1));
        assertThat(refused.violated()).containsExactly("rate", "sliding");
        assertThat(refused.balances().get(0).retryAfter()).isLessThanOrEqualTo(DAY.dividedBy(10));
        assertThat(refused.balances().get(1).retryAfter()).isLessThanOrEqualTo(DAY.plusMinutes(24));
        pass(DAY.plusMinutes(25));
        assertThat(answer(gateway.check(set, 10)).allowed())
                .as("nor does it block a tenant for as long as it went back")
                .isTrue();
    }

    @Test
    void a_clock_that_is_set_back_does_not_part_a_sliding_window_from_its_counts() {
        Quota sliding = new Quota.Sliding("sliding", 10, DAY);
        for (int units : new int[] {5, 1}) {
            assertThat(answer(gateway.newCharge(set(sliding), units).charge()).allowed())
                    .isTrue();
            start = start.minus(Duration.ofHours(3));
        }
        assertThat(left(sliding)).isEqualTo(4);
    }

    @Test
    void a_small_step_back_of_the_clock_shortens_no_sliding_window() {
        Quota sliding = new Quota.Sliding("sliding", 2, Duration.ofHours(1));
        pass(Duration.ofMillis(59_990));
        assertThat(charge(gateway, sliding)).isTrue();
        pass(Duration.ofMillis(10));
        assertThat(charge(gateway, sliding)).as("in the next part").isTrue();
        for (int i = 0; i < 5; i++) {
            start = start.minusMillis(15);
            assertThat(charge(gateway, sliding)).isFalse();
            start = start.plusMillis(15);
            assertThat(charge(gateway, sliding)).isFalse();
        }
        Duration wait = answer(gateway.check(set(sliding), 1)).retryAfter();
        assertThat(wait.plusSeconds(1)).isGreaterThanOrEqualTo(Duration.ofHours(1));
    }

    @Test
    void a_unit_of_a_sliding_window_comes_back_when_its_part_has_left_the_window() {
        Quota sliding = new Quota.Sliding("sliding", 1, Duration.ofHours(1));
        assertThat(charge(gateway, sliding)).isTrue(); // in the first minute after twelve
        pass(Duration.ofMinutes(61).minus(ONE_WAY.multipliedBy(4)));
        assertThat(charge(gateway, sliding)).isFalse();
        passOneCall();
        assertThat(charge(gateway, sliding)).isTrue();
    }

    @Test
    void a_window_that_has_no_whole_parts_is_not_shorter_for_it() {
        Duration within = Duration.ofMillis(100);
        Quota sliding = new Quota.Sliding("sliding", 1, within);
        for (int i = 0; i < 300; i++) {
            assertThat(charge(gateway, sliding)).isTrue();
            Duration wait = answer(gateway.check(set(sliding), 1)).retryAfter();
            pass(wait.plus(Duration.ofNanos(1_000L * 13 * i)));
            assertThat(wait.plus(ONE_WAY.multipliedBy(2))).isGreaterThanOrEqualTo(within);
        }
        Quota rate = new Quota.Rate("rate", 1, Duration.ofNanos(1_000_001), 1);
        assertThat(new KeyedQuota(set(rate).quotas().get(0)).numbers(wall())).containsExactly("rate", "1", "1", "1001");
    }

    // ---- what Redis keeps ----

    @Test
    void what_was_charged_before_redis_lost_it_is_not_given_back() {
        Quota rate = new Quota.Rate("rate", 10, DAY.multipliedBy(300), 10);
        Quota sliding = new Quota.Sliding("sliding", 10, DAY);
        QuotaSet set = set(rate, sliding, DAILY, TOTAL);
        QuotaCharge lost = gateway.newCharge(set, 5);
        answer(lost.charge());
        NearQuotas.redis().flushall();
        answer(lost.settle(0));
        assertThat(answer(other.balances(set))).extracting(Balance::remaining).containsOnly(10L);
        QuotaCharge second = gateway.newCharge(set(rate), 5);
        answer(second.charge());
        NearQuotas.redis().flushall();
        assertThat(answer(gateway.newCharge(set(rate), 8).charge()).allowed()).isTrue();
        answer(second.settle(0));
        assertThat(left(rate)).isEqualTo(2);
    }

    private static long secondsKept(String key) {
        Long millis = NearQuotas.redis().pttl(KeyedQuota.PREFIX + key);
        return Math.round(millis / 1000.0);
    }

    @Test
    void usages_are_kept_until_forgetting_them_makes_no_difference() {
        QuotaSet set = set(
                new Quota.Rate("rate", 10, Duration.ofSeconds(100), 10),
                new Quota.Sliding("sliding", 10, Duration.ofHours(1)),
                DAILY,
                TOTAL,
                new Quota.Rate("slow", 1, DAY.multipliedBy(366), 1_000_000));
        assertThat(answer(gateway.newCharge(set, 1).charge()).allowed()).isTrue();
        assertThat(secondsKept("tenant:acme:rate:rate-PT1M40S")).isBetween(100L, 130L);
        assertThat(secondsKept("tenant:acme:sliding:sliding-PT1H")).isBetween(3_661L, 3_800L);
        assertThat(secondsKept("tenant:acme:daily:day")).isBetween(12L * 3_600 + 86_400, 72L * 3_600);
        assertThat(NearQuotas.redis().pttl(KeyedQuota.PREFIX + "tenant:acme:total:total"))
                .isEqualTo(-1);
        answer(gateway.newCharge(set(new Quota.Rate("slow", 1, DAY.multipliedBy(366), 1_000_000)), 900_000)
                .charge());
        assertThat(NearQuotas.redis().pttl(KeyedQuota.PREFIX + "tenant:acme:slow:rate-PT8784H"))
                .isEqualTo(-1);
        assertThat(secondsKept("last:one")).isBetween(3_590L, 3_600L);
    }

    @Test
    void a_settlement_for_a_window_that_is_over_and_lost_changes_nothing_else() {
        QuotaCharge lost = gateway.newCharge(set(DAILY, TOTAL), 5);
        answer(lost.charge());
        NearQuotas.redis().flushall();
        answer(other.newCharge(set(TOTAL), 8).charge());
        pass(DAY);
        CompletableFuture<Void> settled = lost.settle(0).toFuture();
        pass(QuotaCalls.LONGEST_PAUSE.multipliedBy(3));
        assertThat(settled).isCompleted();
        assertThat(left(TOTAL)).as("given back once").isEqualTo(7);
        assertThat(left(DAILY)).isEqualTo(10);
    }

    @Test
    void a_settlement_is_made_as_far_as_usage_can_be_read() {
        QuotaCharge charge = gateway.newCharge(set(DAILY, TOTAL), 5);
        answer(charge.charge());
        NearQuotas.redis().set(KeyedQuota.PREFIX + "tenant:acme:daily:day", "window-2 1 2 3");
        answer(charge.settle(0));
        assertThat(left(TOTAL)).isEqualTo(10);
    }

    @Test
    void usage_that_cannot_be_read_is_an_error_and_stays() {
        String total = KeyedQuota.PREFIX + "tenant:acme:total:total";
        String daily = KeyedQuota.PREFIX + "tenant:acme:daily:day";
        NearQuotas.redis().hset(total, "a", "b");
        NearQuotas.redis().set(daily, "window-2 1 2 3");
        for (Quota quota : List.of(TOTAL, DAILY)) {
            QuotaCharge charge = gateway.newCharge(set(quota), 4);
            CompletableFuture<QuotaDecision> asked = charge.charge().toFuture();
            CompletableFuture<QuotaDecision> checked =
                    gateway.check(set(quota), 1).toFuture();
            CompletableFuture<List<Balance>> balances =
                    gateway.balances(set(quota)).toFuture();
            pass(ONE_WAY.multipliedBy(4));
            assertUnavailable(asked);
            assertUnavailable(checked);
            assertUnavailable(balances);
            assertThat(charge.isCharged()).isFalse();
        }
        assertThat(NearQuotas.redis().hget(total, "a")).isEqualTo("b");
        assertThat(NearQuotas.redis().get(daily)).isEqualTo("window-2 1 2 3");
        assertThat(charge(gateway, new Quota.Total("other", 1)))
                .as("others are served")
                .isTrue();
    }

    private void writeRate(String made, long everCharged) {
        String now = Long.toString(TimeUnit.MILLISECONDS.toMicros(wall().toEpochMilli()));
        NearQuotas.redis()
                .set(
                        KeyedQuota.PREFIX + "tenant:acme:rate:rate-PT10H",
                        String.join(
                                " ", "rate", "0", "0", now, made, Long.toString(everCharged), "10", "10", "0", "0"));
    }

    @Test
    void a_rate_gives_back_what_time_has_not_however_much_was_ever_charged() {
        Quota rate = new Quota.Rate("rate", 10, Duration.ofHours(10), 10);
        for (long ever : new long[] {1L << 53, (1L << 50) - 15}) {
            writeRate("1", ever);
            QuotaCharge first = gateway.newCharge(set(rate), 10);
            answer(first.charge());
            pass(Duration.ofHours(9));
            answer(gateway.newCharge(set(rate), 7).charge());
            answer(first.settle(0));
            assertThat(left(rate)).as("nine units came back with the time").isEqualTo(2);
        }
    }

    @Test
    void a_rate_gives_back_nothing_that_a_failover_has_lost() {
        Quota rate = new Quota.Rate("rate", 10, Duration.ofHours(10), 10);
        writeRate("1", 0);
        QuotaCharge lost = gateway.newCharge(set(rate), 10);
        answer(lost.charge());
        writeRate("1", 0);
        answer(gateway.newCharge(set(rate), 8).charge());
        answer(lost.settle(0));
        assertThat(left(rate)).isEqualTo(2);
    }

    // ---- gateways with different policies ----

    @Test
    void a_gateway_with_a_smaller_burst_does_not_forgive_what_one_with_a_larger_one_lets_pass() {
        Quota larger = new Quota.Rate("rate", 10, Duration.ofSeconds(1), 1_000);
        Quota smaller = new Quota.Rate("rate", 10, Duration.ofSeconds(1), 10);
        long passed = 0;
        for (int i = 0; i < 100; i++) {
            passed += answer(gateway.newCharge(set(larger), 100).charge()).allowed() ? 100 : 0;
            pass(Duration.ofMillis(100));
            QuotaCharge small = other.newCharge(set(smaller), 1);
            passed += answer(small.charge()).allowed() ? 1 : 0;
            answer(small.settle(0));
        }
        assertThat(passed).isLessThanOrEqualTo(1_000 + 110);
        pass(Duration.ofSeconds(61));
        assertThat(charge(other, smaller))
                .as("a minute after the last charge with the larger burst")
                .isTrue();
    }

    @Test
    void a_settlement_by_the_smaller_burst_does_not_end_what_will_be_forgiven() {
        Quota larger = new Quota.Rate("rate", 1, Duration.ofSeconds(1), 1_000);
        Quota smaller = new Quota.Rate("rate", 1, Duration.ofSeconds(1), 10);
        QuotaCharge charge = other.newCharge(set(smaller), 2);
        answer(charge.charge());
        assertThat(answer(gateway.newCharge(set(larger), 500).charge()).allowed())
                .isTrue();
        answer(charge.settle(1));
        pass(Duration.ofSeconds(70));
        assertThat(charge(other, smaller)).isTrue();
    }
}
