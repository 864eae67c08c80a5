package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Checks and balances, which change nothing. */
abstract class CheckContract extends QuotaTopic {

    CheckContract(QuotasBackend backend) {
        super(backend);
    }

    @Test
    void a_check_changes_no_balance() {
        charged(EACH, 4);
        for (int i = 0; i < 3; i++) {
            assertThat(check(EACH, 6).allowed()).isTrue();
            assertThat(check(EACH, 7).allowed()).isFalse();
        }
        assertRemaining(EACH, 6L, 6L, 6L, 6L);
        assertThat(charge(EACH, 6).allowed()).isTrue();
    }

    @Test
    void a_check_decides_when_it_is_subscribed() {
        Mono<QuotaDecision> check = quotas.check(EACH, 10);
        charged(EACH, 1);
        assertThat(answerOf(check).allowed()).isFalse();
        QuotaSet daily = QuotaSet.of(TENANT, DAILY);
        Mono<QuotaDecision> tomorrow = quotas.check(daily, 10);
        time.advanceBy(Duration.ofHours(12));
        assertThat(answerOf(tomorrow).allowed()).isTrue();
    }

    @Test
    void balances_come_in_the_order_of_the_set_and_include_quotas_that_are_not_enforced() {
        QuotaSet set = setOf(dryRun(ACME, total("trial", 5)), enforced(ACME, DAILY), enforced(CORP, total("all", 7)));
        charged(set, 2);
        List<Balance> balances = answerOf(quotas.balances(set));
        assertThat(balances).extracting(balance -> balance.of().label()).containsExactly("trial", "daily", "corp/all");
        assertThat(balances).extracting(Balance::remaining).containsExactly(3L, 8L, 5L);
        assertThat(balances).noneMatch(Balance::refuses);
    }

    @Test
    void balances_are_those_for_a_request_of_one_unit() {
        charged(EACH, 10);
        List<Balance> balances = answerOf(quotas.balances(EACH));
        assertThat(balances).extracting(Balance::remaining).containsOnly(0L);
        assertThat(balances).allMatch(Balance::refuses);
        assertThat(balances.get(3).retryAfter()).isEqualTo(Balance.NEVER);
        assertThat(balances.get(3).untilFull()).isEqualTo(Balance.NEVER);
        assertThat(balances.get(2).untilFull()).isBetween(Duration.ofHours(11), Duration.ofHours(12));
    }

    @Test
    void a_set_without_quotas_lets_every_request_pass() {
        assertThat(check(QuotaSet.NONE, Long.MAX_VALUE).allowed()).isTrue();
        assertThat(charge(QuotaSet.NONE, Long.MAX_VALUE).balances()).isEmpty();
        assertThat(answerOf(quotas.balances(QuotaSet.NONE))).isEmpty();
    }

    @Test
    void units_below_one_are_refused_at_once() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quotas.check(EACH, 0))
                .withMessage("units: 0 (expected: >= 1)");
        assertThatIllegalArgumentException().isThrownBy(() -> quotas.newCharge(QuotaSet.NONE, -1));
    }
}
