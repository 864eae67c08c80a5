package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Balances of owners that the policy does not name any more. */
abstract class RemovedOwnersContract extends QuotaTopic {

    RemovedOwnersContract(QuotasBackend backend) {
        super(backend);
    }

    private void dropUnused(Set<QuotaOwner> kept) {
        answerOf(quotas.dropUnused(kept));
    }

    @Test
    void an_owner_that_is_removed_and_soon_added_again_gets_no_new_units() {
        charged(EACH, 10);
        time.advanceBy(Duration.ofMinutes(10));
        dropUnused(Set.of());
        dropUnused(Set.of(ACME));
        assertRemaining(EACH, 0L, 0L, 0L, 0L);
        time.advanceBy(Duration.ofDays(1));
        dropUnused(Set.of());
        assertRemaining(EACH, 10L, 10L, 10L, 0L);
    }

    @Test
    void owners_that_the_policy_names_keep_their_balances() {
        QuotaSet group = setOf(enforced(CORP, DAILY));
        charged(group, 7);
        charged(EACH, 7);
        dropUnused(Set.of(CORP, ACME));
        assertRemaining(group, 3L);
        assertRemaining(EACH, 3L, 3L, 3L, 3L);
    }

    @Test
    void nothing_is_dropped_before_subscription_and_a_dropped_owner_can_be_charged_again() {
        QuotaSet daily = QuotaSet.of(TENANT, DAILY);
        QuotaCharge charge = charged(daily, 4);
        time.advanceBy(Duration.ofDays(1));
        dropUnused(Set.of());
        settle(charge, 0);
        charged(daily, 10);
        quotas.dropUnused(Set.of());
        answer();
        assertThat(charge(daily, 1).allowed()).isFalse();
    }
}
