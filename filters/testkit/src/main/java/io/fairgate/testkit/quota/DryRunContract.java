package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import org.junit.jupiter.api.Test;

/** Quotas that are not enforced: they count and decide, and refuse nothing. */
abstract class DryRunContract extends QuotaTopic {

    private static final QuotaSet SET = setOf(
            enforced(ACME, total("enforced", 5)), dryRun(ACME, total("wide", 100)), dryRun(ACME, total("narrow", 2)));

    DryRunContract(QuotasBackend backend) {
        super(backend);
    }

    @Test
    void a_request_that_only_a_dry_run_would_refuse_passes_and_the_decision_names_it() {
        for (QuotaDecision decision : new QuotaDecision[] {check(SET, 3), charge(SET, 3)}) {
            assertThat(decision.allowed()).isTrue();
            assertThat(decision.wouldRefuse()).containsExactly("narrow");
            assertThat(decision.violated()).isEmpty();
            assertThat(decision.retryAfter()).isZero();
            assertThat(decision.balances())
                    .extracting(balance -> balance.of().label())
                    .as("clients see enforced quotas only")
                    .containsExactly("enforced");
        }
    }

    @Test
    void quotas_that_are_not_enforced_are_charged_all_or_none_and_only_together_with_the_enforced_ones() {
        charge(SET, 3);
        assertRemaining(SET, 2L, 100L, 2L);
        charged(SET, 2);
        assertRemaining(SET, 0L, 98L, 0L);
        assertThat(charge(SET, 1).allowed()).isFalse();
        assertRemaining(SET, 0L, 98L, 0L);
    }

    @Test
    void only_what_was_charged_is_given_back() {
        charged(SET, 1);
        QuotaCharge charge = charged(SET, 3);
        assertRemaining(SET, 1L, 99L, 1L);
        settle(charge, 0);
        assertRemaining(SET, 4L, 99L, 1L);
    }

    @Test
    void a_refusal_by_an_enforced_quota_does_not_name_dry_runs() {
        QuotaDecision refused = charge(SET, 6);
        assertThat(refused.violated()).containsExactly("enforced");
        assertThat(refused.wouldRefuse()).isEmpty();
    }
}
