package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Quotas that let requests pass while Redis does not answer. */
class QuotaOutageTest {

    private static final Duration ONE_WAY = Duration.ofMillis(1);
    private static final QuotaSet QUOTAS = QuotaSet.of(TenantId.of("acme"), new Quota.Total("total", 3));

    private final TestTime time = new TestTime();
    private final NearQuotas near = new NearQuotas(time, this::wall, this::wall, ONE_WAY);
    private final AtomicInteger uncharged = new AtomicInteger();
    private final RedisQuotas quotas =
            new RedisQuotas(near, QuotaOutagePolicy.failOpen(uncharged::incrementAndGet), time, "one", true);

    private Instant wall() {
        return Instant.parse("2026-03-10T12:00:00Z").plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    @BeforeEach
    void clear() {
        NearQuotas.redis().flushall();
        assertThat(left()).isEqualTo(3);
    }

    private <T> T answer(Mono<T> call, Duration within) {
        CompletableFuture<T> answered = call.toFuture();
        time.advanceBy(within);
        assertThat(answered).isDone();
        return answered.join();
    }

    private <T> T answer(Mono<T> call) {
        return answer(call, ONE_WAY.multipliedBy(2));
    }

    private long left() {
        return answer(quotas.balances(QUOTAS)).get(0).remaining();
    }

    @Test
    void requests_pass_uncharged_at_once_and_are_charged_and_refused_again_when_redis_answers() {
        near.isLost = true;
        for (int i = 1; i <= 5; i++) {
            QuotaDecision passed = answer(quotas.newCharge(QUOTAS, 1).charge());
            assertThat(passed.allowed()).isTrue();
            assertThat(passed.balances()).isEmpty();
            assertThat(uncharged).hasValue(i);
        }
        near.isLost = false;
        time.advanceBy(QuotaCalls.LONGEST_PAUSE);
        assertThat(left()).isEqualTo(3);
        for (int i = 1; i <= 4; i++) {
            assertThat(answer(quotas.newCharge(QUOTAS, 1).charge()).allowed()).isEqualTo(i <= 3);
        }
        assertThat(uncharged).hasValue(5);
    }

    @Test
    void a_check_passes_and_is_no_request_that_was_not_charged() {
        near.isLost = true;
        assertThat(answer(quotas.check(QUOTAS, 1)).allowed()).isTrue();
        assertThat(uncharged).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_charge_that_redis_has_made_without_telling_is_given_back(boolean endsFirst) {
        near.isAnswerLost = true;
        QuotaCharge charge = quotas.newCharge(QUOTAS, 1);
        assertThat(answer(charge.charge(), QuotaCalls.PATIENCE).allowed()).isTrue();
        assertThat(uncharged).hasValue(1);
        CompletableFuture<Void> settled = new CompletableFuture<>();
        if (endsFirst) {
            settled = charge.settle(1).toFuture();
        }
        near.isAnswerLost = false;
        time.advanceBy(QuotaCalls.LONGEST_PAUSE);
        assertThat(charge.isCharged()).isFalse();
        assertThat(left()).isEqualTo(3);
        if (!endsFirst) {
            settled = charge.settle(1).toFuture();
        }
        assertThat(settled).isDone();
        assertThat(left()).isEqualTo(3);
    }

    @Test
    void a_request_whose_client_has_left_is_not_counted() {
        near.isAnswerLost = true;
        QuotaCharge charge = quotas.newCharge(QUOTAS, 1);
        charge.charge().subscribe(decision -> {}, failed -> {});
        charge.settle(0).subscribe();
        time.advanceBy(QuotaCalls.PATIENCE);
        assertThat(uncharged).hasValue(0);
    }

    @Test
    void calls_that_wait_for_too_long_or_are_too_many_while_redis_answers_are_refused() {
        CompletableFuture<QuotaDecision> first = quotas.check(QUOTAS, 1).toFuture();
        List<CompletableFuture<QuotaDecision>> many = new ArrayList<>();
        for (int i = 0; i < QuotaCalls.MOST_WAITING; i++) {
            many.add(quotas.newCharge(QUOTAS, 1).charge().toFuture());
        }
        CompletableFuture<QuotaDecision> tooMany =
                quotas.newCharge(QUOTAS, 1).charge().toFuture();
        assertThat(tooMany).isCompletedExceptionally();
        near.oneWay = QuotaCalls.PATIENCE.multipliedBy(2).dividedBy(5);
        time.advanceBy(QuotaCalls.PATIENCE.multipliedBy(3));
        assertThat(first.join().allowed()).isTrue();
        assertThat(many.get(many.size() - 1)).isCompletedExceptionally();
        assertThat(uncharged).hasValue(0);
    }

    @Test
    void usage_that_cannot_be_read_is_no_outage() {
        answer(quotas.newCharge(QUOTAS, 1).charge());
        NearQuotas.redis()
                .keys("fairgate:quota:*total*")
                .forEach(key -> NearQuotas.redis().set(key, "x"));
        CompletableFuture<QuotaDecision> charge =
                quotas.newCharge(QUOTAS, 1).charge().toFuture();
        CompletableFuture<QuotaDecision> check = quotas.check(QUOTAS, 1).toFuture();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThatThrownBy(charge::join).hasCauseInstanceOf(QuotasUnavailableException.class);
        assertThatThrownBy(check::join).hasCauseInstanceOf(QuotasUnavailableException.class);
        assertThat(uncharged).hasValue(0);
    }
}
