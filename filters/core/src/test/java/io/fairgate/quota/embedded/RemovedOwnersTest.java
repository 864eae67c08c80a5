package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Balances of removed owners are kept until their windows end. */
class RemovedOwnersTest {

    private static final Quota BURST = new Quota.Rate("burst", 10, Duration.ofSeconds(1), 10);
    private static final Quota SLIDING = new Quota.Sliding("sliding", 10, Duration.ofMinutes(1));
    private static final Quota DAILY = new Quota.Calendar("daily", 10, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota TOTAL = new Quota.Total("total", 10);
    private static final QuotaOwner CORP = QuotaOwner.group("corp");

    private final VirtualQuotas time = new VirtualQuotas();
    private final EmbeddedQuotas quotas = time.quotas;

    private static QuotaOwner tenant(int i) {
        return QuotaOwner.tenant(TenantId.of("t" + i));
    }

    private static QuotaSet set(QuotaOwner owner, Quota... all) {
        List<OwnedQuota> owned = new ArrayList<>();
        for (Quota quota : all) {
            owned.add(new OwnedQuota(owner, quota, true));
        }
        return QuotaSet.of(owned);
    }

    private boolean passes(QuotaSet set, long units) {
        return Objects.requireNonNull(quotas.chargeNow(set, units)).allowed();
    }

    @Test
    void removed_tenants_leave_nothing_behind_when_their_windows_end() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(passes(set(tenant(i), BURST, SLIDING, DAILY), 10)).isTrue();
        }
        assertThat(passes(set(CORP, DAILY), 10)).isTrue();
        assertThat(quotas.dropUnusedNow(Set.of(CORP))).isEqualTo(10_000);
        time.pass(Duration.ofHours(2));
        assertThat(quotas.dropUnusedNow(Set.of(CORP))).as("the day is not over").isEqualTo(10_000);
        time.moveWallClock(Duration.ofHours(12));

        assertThat(quotas.dropUnusedNow(Set.of(CORP))).isZero();
        assertThat(quotas.owners()).as("the group is still there").isOne();
    }

    @Test
    void a_tenant_that_returns_within_its_window_keeps_its_usage() {
        QuotaSet before = set(tenant(1), BURST, DAILY);
        assertThat(passes(before, 10)).isTrue();
        time.pass(Duration.ofHours(1));
        quotas.dropUnusedNow(Set.of());
        quotas.dropUnusedNow(Set.of(tenant(1)));

        assertThat(passes(set(tenant(1), BURST, DAILY), 1)).isFalse();
        time.moveWallClock(Duration.ofDays(1));
        assertThat(passes(before, 10)).isTrue();
    }

    @Test
    void the_usage_of_a_total_is_kept_for_ever() {
        assertThat(passes(set(tenant(1), TOTAL), 10)).isTrue();
        time.pass(Duration.ofDays(1000));
        time.moveWallClock(Duration.ofDays(1000));
        assertThat(quotas.dropUnusedNow(Set.of())).isOne();
        assertThat(passes(set(tenant(1), TOTAL), 1)).isFalse();
    }

    @Test
    void a_bounded_number_of_removed_owners_is_kept_and_the_oldest_are_dropped() {
        int over = 10;
        for (int i = 0; i < over; i++) {
            passes(set(tenant(i), TOTAL), 1);
        }
        assertThat(quotas.dropUnusedNow(Set.of())).isEqualTo(over);
        for (int i = over; i < EmbeddedQuotas.MOST_UNKEPT + over; i++) {
            passes(set(tenant(i), TOTAL), 1);
        }
        assertThat(quotas.dropUnusedNow(Set.of())).isEqualTo(EmbeddedQuotas.MOST_UNKEPT);
        assertThat(quotas.owners()).isEqualTo(EmbeddedQuotas.MOST_UNKEPT);
        assertThat(passes(set(tenant(0), TOTAL), 10)).isTrue();
        assertThat(passes(set(tenant(over), TOTAL), 10)).isFalse();
    }

    @Test
    void a_late_settlement_is_charged_to_the_new_account() {
        QuotaSet both = QuotaSet.of(List.of(new OwnedQuota(tenant(1), BURST, true), new OwnedQuota(CORP, DAILY, true)));
        QuotaCharge more = quotas.newCharge(both, 1);
        QuotaCharge less = quotas.newCharge(both, 1);
        assertThat(time.charge(more).allowed()).isTrue();
        assertThat(time.charge(less).allowed()).isTrue();
        time.pass(Duration.ofHours(1));
        assertThat(quotas.dropUnusedNow(Set.of(CORP))).isZero();
        time.settle(more, 6);
        time.settle(less, 0);

        assertThat(quotas.owners()).isEqualTo(2);
        assertThat(passes(set(tenant(1), BURST), 6)).as("5 are owed").isFalse();
        assertThat(passes(set(tenant(1), BURST), 5)).isTrue();
        assertThat(passes(set(CORP, DAILY), 5)).as("6 of 10 are used").isFalse();
        assertThat(passes(set(CORP, DAILY), 4)).isTrue();
        time.pass(Duration.ofHours(1));
        assertThat(quotas.dropUnusedNow(Set.of(CORP))).isZero();
        assertThat(quotas.owners()).isOne();
    }

    @Test
    void a_charge_after_its_tenant_was_dropped_leaves_nothing_behind() {
        QuotaSet set = set(tenant(1), BURST);
        quotas.checkNow(set, 1);
        assertThat(quotas.dropUnusedNow(Set.of())).isZero();
        assertThat(passes(set, 10)).isTrue();
        assertThat(passes(set, 1)).isFalse();
        assertThat(quotas.dropUnusedNow(Set.of())).isOne();
        time.pass(Duration.ofSeconds(2));
        assertThat(quotas.dropUnusedNow(Set.of())).isZero();
        assertThat(quotas.owners()).isZero();
    }

    /** Each owner has one unit; a charge to an account that is being dropped must not be lost. */
    @Test
    void an_account_dropped_during_a_charge_admits_no_unit_twice() throws Exception {
        int owners = 20_000;
        List<QuotaSet> sets = new ArrayList<>();
        for (int i = 0; i < owners; i++) {
            sets.add(set(tenant(i), new Quota.Total("one", 1)));
        }
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger next = new AtomicInteger();
        CyclicBarrier together = new CyclicBarrier(3);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<Integer>> running = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                running.add(threads.submit(() -> {
                    together.await();
                    int passed = 0;
                    for (int i = 0; i < owners; i++) {
                        next.set(i);
                        quotas.checkNow(sets.get(i), 1);
                        passed += passes(sets.get(i), 1) ? 1 : 0;
                    }
                    return passed;
                }));
            }
            Future<?> dropping = threads.submit(() -> {
                together.await();
                while (!over.get()) {
                    Account account = quotas.account(tenant(next.get()));
                    ClockReading now = new ClockReading();
                    now.nanos = time.nanos();
                    account.drop(now, false);
                }
                return null;
            });
            int passed = running.get(0).get() + running.get(1).get();
            over.set(true);
            dropping.get();
            assertThat(passed).isEqualTo(owners);
        } finally {
            threads.shutdownNow();
        }
    }
}
