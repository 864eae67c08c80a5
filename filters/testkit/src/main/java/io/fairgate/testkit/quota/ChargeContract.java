package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Charges: all quotas or none, once, and units that come back with the time. */
abstract class ChargeContract extends QuotaTopic {

    ChargeContract(QuotasBackend backend) {
        super(backend);
    }

    @Test
    void nothing_is_charged_before_subscription() {
        QuotaCharge charge = quotas.newCharge(EACH, 4);
        Mono<QuotaDecision> lazy = charge.charge();
        answer();
        assertThat(charge.isCharged()).isFalse();
        assertRemaining(EACH, 10L, 10L, 10L, 10L);
        assertThat(answerOf(lazy).allowed()).isTrue();
        assertThat(charge.isCharged()).isTrue();
        assertRemaining(EACH, 6L, 6L, 6L, 6L);
    }

    @Test
    void a_charge_knows_its_quotas_and_its_units() {
        QuotaCharge charge = quotas.newCharge(EACH, 4);
        assertThat(charge.quotas()).isSameAs(EACH);
        assertThat(charge.units()).isEqualTo(4);
    }

    @Test
    void a_charge_is_made_once_and_later_subscriptions_only_check() {
        QuotaCharge charge = charged(EACH, 4);
        assertThat(answerOf(charge.charge()).allowed()).isTrue();
        assertRemaining(EACH, 6L, 6L, 6L, 6L);
        charged(EACH, 3);
        assertThat(answerOf(charge.charge()).allowed()).as("3 units are left").isFalse();
        assertThat(charge.isCharged()).isTrue();
        assertRemaining(EACH, 3L, 3L, 3L, 3L);
    }

    @Test
    void when_one_quota_refuses_none_is_charged_in_whatever_order_they_are_listed() {
        Quota narrow = total("narrow", 3);
        QuotaSet first = setOf(enforced(ACME, narrow), enforced(ACME, DAILY), enforced(CORP, RATE));
        QuotaSet last = setOf(enforced(CORP, RATE), enforced(ACME, DAILY), enforced(ACME, narrow));
        for (QuotaSet set : new QuotaSet[] {first, last}) {
            QuotaCharge charge = quotas.newCharge(set, 4);
            QuotaDecision refused = answerOf(charge.charge());
            assertThat(refused.allowed()).isFalse();
            assertThat(refused.violated()).containsExactly("narrow");
            assertThat(charge.isCharged()).isFalse();
        }
        assertRemaining(first, 3L, 10L, 10L);
    }

    @Test
    void a_refusal_names_every_quota_that_refuses_and_the_longest_time_to_wait() {
        charged(EACH, 10);
        QuotaSet withTime = QuotaSet.of(TENANT, RATE, SLIDING, DAILY);
        QuotaDecision refused = charge(withTime, 1);
        assertThat(refused.violated()).containsExactly("rate", "sliding", "daily");
        assertThat(refused.retryAfter()).isBetween(Duration.ofHours(11), Duration.ofHours(12));
        assertThat(refused.balances()).extracting(Balance::remaining).containsOnly(0L);
        assertThat(charge(EACH, 1).retryAfter()).isEqualTo(Balance.NEVER);
    }

    @Test
    void after_the_time_to_retry_the_same_request_passes() {
        for (Quota quota : new Quota[] {RATE, SLIDING, DAILY}) {
            QuotaSet set = QuotaSet.of(TENANT, quota);
            charged(set, 10);
            QuotaDecision refused = charge(set, 3);
            assertThat(refused.allowed()).as("%s", quota).isFalse();
            time.advanceBy(refused.retryAfter());
            assertThat(charge(set, 3).allowed()).as("%s", quota).isTrue();
        }
    }

    @Test
    void units_come_back_with_the_time_and_never_more_than_the_limit() {
        charged(EACH, 10);
        time.advanceBy(Duration.ofHours(2));
        assertRemaining(EACH, 2L, 10L, 0L, 0L);
        time.advanceBy(Duration.ofDays(400));
        assertRemaining(EACH, 10L, 10L, 10L, 0L);
    }

    @Test
    void more_units_than_a_quota_ever_has_are_refused_for_ever() {
        for (Quota quota : new Quota[] {RATE, SLIDING, DAILY, TOTAL}) {
            QuotaSet set = QuotaSet.of(TENANT, quota);
            assertThat(charge(set, 11).retryAfter()).as("%s", quota).isEqualTo(Balance.NEVER);
            assertRemaining(set, 10L);
        }
    }

    @Test
    void the_balances_of_a_decision_include_its_own_charge() {
        QuotaDecision decision = charge(EACH, 4);
        assertThat(decision.balances())
                .extracting(balance -> balance.of().label())
                .containsExactly("rate", "sliding", "daily", "total");
        assertThat(decision.balances()).extracting(Balance::remaining).containsOnly(6L);
        assertThat(decision.violated()).isEmpty();
        assertThat(decision.retryAfter()).isZero();
    }

    @Test
    void tenants_have_balances_of_their_own_and_share_those_of_their_group() {
        Quota own = total("own", 10);
        Quota shared = total("shared", 15);
        QuotaSet acme = setOf(enforced(ACME, own), enforced(CORP, shared));
        QuotaSet globex = setOf(enforced(GLOBEX, own), enforced(CORP, shared));
        charged(acme, 10);
        assertRemaining(globex, 10L, 5L);
        QuotaDecision refused = charge(globex, 6);
        assertThat(refused.violated()).containsExactly("corp/shared");
        charged(globex, 5);
        assertRemaining(acme, 0L, 0L);
    }

    @Test
    void a_tenant_and_a_group_of_the_same_name_have_balances_of_their_own() {
        QuotaSet tenant = QuotaSet.of(TENANT, TOTAL);
        QuotaSet group = setOf(enforced(QuotaOwner.group("acme"), TOTAL));
        charged(tenant, 10);
        charged(group, 10);
    }

    @Test
    void two_sets_with_the_same_quota_charge_the_same_balance() {
        charged(QuotaSet.of(TENANT, DAILY, TOTAL), 4);
        charged(QuotaSet.of(TENANT, TOTAL), 4);
        assertRemaining(QuotaSet.of(TENANT, TOTAL, DAILY), 2L, 6L);
    }
}
