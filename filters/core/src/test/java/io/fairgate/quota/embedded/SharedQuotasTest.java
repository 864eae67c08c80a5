package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Quotas of groups beside those of tenants, and quotas in dry run beside enforced ones. */
class SharedQuotasTest {
    private static final QuotaOwner CORP = QuotaOwner.group("corp");
    private static final QuotaOwner ACME = QuotaOwner.tenant(VirtualQuotas.ACME);
    private static final QuotaOwner GLOBEX = QuotaOwner.tenant(TenantId.of("globex"));

    private final EmbeddedQuotas quotas = new VirtualQuotas().quotas;

    private static OwnedQuota enforced(QuotaOwner owner, long limit) {
        return new OwnedQuota(owner, hourly(limit), true);
    }

    private static OwnedQuota trial(QuotaOwner owner, String name, long limit) {
        return new OwnedQuota(owner, new Quota.Rate(name, limit, Duration.ofHours(1), limit), false);
    }

    private static Quota hourly(long limit) {
        return new Quota.Rate("hourly", limit, Duration.ofHours(1), limit);
    }

    private QuotaDecision charge(QuotaSet set, long units) {
        return Objects.requireNonNull(quotas.chargeNow(set, units));
    }

    private List<Long> remaining(QuotaSet set) {
        return Objects.requireNonNull(quotas.balances(set).block()).stream()
                .map(Balance::remaining)
                .toList();
    }

    @Test
    void tenants_share_the_balance_of_their_group_and_a_refusal_charges_none() {
        QuotaSet acme = QuotaSet.of(List.of(enforced(ACME, 10), enforced(CORP, 12)));
        QuotaSet globex = QuotaSet.of(List.of(enforced(GLOBEX, 10), enforced(CORP, 12)));
        assertThat(charge(acme, 8).allowed()).isTrue();
        QuotaDecision refused = charge(globex, 5);
        assertThat(refused.violated()).containsExactly("corp/hourly");
        assertThat(remaining(globex)).containsExactly(10L, 4L);
        assertThat(charge(globex, 4).allowed()).isTrue();
        assertThat(remaining(acme)).containsExactly(2L, 0L);
    }

    @Test
    void a_tenant_and_a_group_with_the_same_name_have_separate_balances() {
        QuotaSet both = QuotaSet.of(List.of(enforced(QuotaOwner.group("acme"), 5), enforced(ACME, 7)));
        charge(both, 1);
        assertThat(remaining(both)).containsExactly(4L, 6L);
    }

    @Test
    void an_owner_cannot_have_two_quotas_with_the_same_name() {
        assertThatThrownBy(() -> QuotaSet.of(List.of(enforced(ACME, 1), trial(ACME, "hourly", 2))))
                .hasMessage("quotas: hourly twice (expected: a name of its own for each)");
    }

    @Test
    void a_quota_in_dry_run_refuses_nothing_and_only_the_operator_sees_it() {
        QuotaSet set = QuotaSet.of(List.of(trial(ACME, "trial", 2), enforced(ACME, 10)));
        assertThat(charge(set, 2).wouldRefuse()).isEmpty();
        QuotaDecision check = quotas.checkNow(set, 1);
        assertThat(check.allowed()).isTrue();
        assertThat(check.wouldRefuse()).containsExactly("trial");
        QuotaDecision decision = charge(set, 1);
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.wouldRefuse()).containsExactly("trial");
        assertThat(decision.retryAfter()).isZero();
        assertThat(decision.balances()).extracting(b -> b.of().label()).containsExactly("hourly");
        assertThat(remaining(set)).containsExactly(0L, 7L);
    }

    @Test
    void quotas_in_dry_run_are_charged_all_or_none_together_with_the_others() {
        QuotaSet set = QuotaSet.of(List.of(enforced(ACME, 5), trial(ACME, "wide", 100), trial(ACME, "narrow", 2)));
        assertThat(charge(set, 3).wouldRefuse()).containsExactly("narrow");
        assertThat(remaining(set)).as("narrow would have refused").containsExactly(2L, 100L, 2L);
        assertThat(charge(set, 2).allowed()).isTrue();
        assertThat(remaining(set)).containsExactly(0L, 98L, 0L);
        assertThat(charge(set, 1).allowed()).isFalse();
        assertThat(remaining(set)).containsExactly(0L, 98L, 0L);
    }

    @Test
    void only_charged_units_are_given_back() {
        QuotaSet set = QuotaSet.of(List.of(enforced(ACME, 5), trial(ACME, "narrow", 2)));
        charge(set, 1);
        QuotaCharge charge = quotas.newCharge(set, 3);
        charge.charge().block();
        charge.settle(0).block();
        assertThat(remaining(set)).containsExactly(4L, 1L);
    }

    /** After a reload the group may come first; locks taken in the order of the lists would deadlock. */
    @Test
    void sets_that_list_the_same_owners_in_opposite_orders_do_not_deadlock() throws Exception {
        QuotaSet oneWay = QuotaSet.of(List.of(enforced(ACME, 1_000_000), enforced(CORP, 30_000)));
        QuotaSet otherWay = QuotaSet.of(List.of(enforced(CORP, 30_000), enforced(ACME, 1_000_000)));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            CyclicBarrier together = new CyclicBarrier(2);
            List<Future<Integer>> running = new ArrayList<>();
            for (QuotaSet set : List.of(oneWay, otherWay)) {
                running.add(threads.submit(() -> {
                    together.await();
                    int passed = 0;
                    for (int i = 0; i < 25_000; i++) {
                        passed += charge(set, 1).allowed() ? 1 : 0;
                    }
                    return passed;
                }));
            }
            assertThat(running.get(0).get() + running.get(1).get()).isEqualTo(30_000);
        } finally {
            threads.shutdownNow();
        }
    }

    /** A group with a limit of 20,000 and tenants with 8,000 each, in opposite orders, with charges of different sizes. */
    @Test
    void concurrent_charges_admit_exactly_the_limit_and_a_refused_charge_leaves_nothing() throws Exception {
        List<QuotaOwner> tenants = List.of(ACME, GLOBEX, QuotaOwner.tenant(TenantId.of("initech")));
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try {
            CyclicBarrier together = new CyclicBarrier(6);
            List<Future<Long>> running = new ArrayList<>();
            for (int thread = 0; thread < 6; thread++) {
                OwnedQuota own = enforced(tenants.get(thread / 2), 8_000);
                OwnedQuota shared = enforced(CORP, 20_000);
                QuotaSet set = QuotaSet.of(thread % 2 == 0 ? List.of(own, shared) : List.of(shared, own));
                running.add(threads.submit(() -> {
                    together.await();
                    long passed = 0;
                    for (int i = 0; i < 5_000; i++) {
                        int units = 1 + i % 7;
                        passed += charge(set, units).allowed() ? units : 0;
                    }
                    return passed;
                }));
            }
            long total = 0;
            for (int i = 0; i < tenants.size(); i++) {
                long passed = running.get(2 * i).get() + running.get(2 * i + 1).get();
                assertThat(remaining(QuotaSet.of(List.of(enforced(tenants.get(i), 8_000)))))
                        .containsExactly(8_000 - passed);
                total += passed;
            }
            assertThat(total).isEqualTo(20_000);
            assertThat(remaining(QuotaSet.of(List.of(enforced(CORP, 20_000))))).containsExactly(0L);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void one_set_has_separate_balances_in_each_backend() {
        QuotaSet set = QuotaSet.of(List.of(enforced(ACME, 5)));
        charge(set, 3);
        EmbeddedQuotas other = new VirtualQuotas().quotas;
        assertThat(Objects.requireNonNull(other.chargeNow(set, 4)).allowed()).isTrue();
        assertThat(charge(set, 3).allowed()).isFalse();
    }
}
