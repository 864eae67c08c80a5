package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.management.ThreadMXBean;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

class EmbeddedQuotasTest {
    private static final Quota.Rate BURST = new Quota.Rate("burst", 20, Duration.ofSeconds(1), 20);
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 30, CalendarUnit.DAY, ZoneOffset.UTC);

    private final VirtualQuotas virtual = new VirtualQuotas();

    @Test
    void nothing_is_charged_before_subscription_and_a_charge_is_made_once() {
        QuotaCharge one = virtual.quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, BURST), 1);
        Mono<QuotaDecision> charge = one.charge();
        assertThat(virtual.remaining(BURST)).isEqualTo(20);
        charge.block();
        charge.block();
        assertThat(virtual.remaining(BURST)).isEqualTo(19);
    }

    @Test
    void the_clock_is_read_at_subscription() {
        virtual.charge(20, BURST);
        Mono<QuotaDecision> check = virtual.quotas.check(QuotaSet.of(VirtualQuotas.ACME, BURST), 1);
        virtual.pass(Duration.ofSeconds(1));
        assertThat(Objects.requireNonNull(check.block()).allowed()).isTrue();
    }

    @Test
    void a_check_changes_nothing() {
        virtual.charge(5, BURST, DAILY);
        List<Balance> first = virtual.check(7, BURST, DAILY).balances();
        assertThat(virtual.check(7, BURST, DAILY).balances()).isEqualTo(first);
        assertThat(first).extracting(Balance::remaining).containsExactly(15L, 25L);
    }

    @Test
    void balances_are_in_the_order_of_the_set_and_after_the_charge() {
        assertThat(virtual.charge(5, DAILY, BURST).balances())
                .extracting(b -> b.quota().name(), Balance::remaining)
                .containsExactly(tuple("daily", 25L), tuple("burst", 15L));
    }

    @Test
    void when_one_quota_refuses_none_is_charged() {
        virtual.charge(20, BURST, DAILY);
        QuotaDecision refused = virtual.charge(1, DAILY, BURST);
        assertThat(refused.violated()).containsExactly("burst");
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofMillis(50));
        assertThat(virtual.charge(1, BURST, DAILY).allowed()).as("in any order").isFalse();
        assertThat(virtual.remaining(DAILY)).isEqualTo(10);
        assertThat(refused.balances().get(0).retryAfter()).isZero();

        virtual.pass(Duration.ofSeconds(1));
        assertThat(virtual.charge(11, BURST, DAILY).violated()).containsExactly("daily");
        assertThat(virtual.remaining(BURST)).isEqualTo(20);
    }

    @Test
    void all_refusing_quotas_are_named_and_the_longest_wait_counts() {
        virtual.charge(20, BURST, DAILY);
        QuotaDecision refused = virtual.charge(11, BURST, DAILY);
        assertThat(refused.violated()).containsExactly("burst", "daily");
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofHours(12));
        assertThat(virtual.charge(21, BURST, DAILY).retryAfter()).isEqualTo(Balance.NEVER);
    }

    @Test
    void tenants_do_not_share_a_balance() {
        virtual.chargeAll(BURST);
        QuotaDecision other =
                Objects.requireNonNull(virtual.quotas.chargeNow(QuotaSet.of(TenantId.of("globex"), BURST), 20));
        assertThat(other.allowed()).isTrue();
    }

    @Test
    void a_tenant_without_quotas_costs_no_state() {
        assertThat(virtual.charge(1)).isSameAs(QuotaDecision.UNLIMITED);
        assertThat(virtual.check(1)).isSameAs(QuotaDecision.UNLIMITED);
        assertThat(virtual.quotas.owners()).isZero();
        virtual.charge(1, BURST, DAILY);
        assertThat(virtual.quotas.owners()).isEqualTo(1);
    }

    @Test
    void removed_quotas_are_forgotten_only_when_they_are_unused() {
        QuotaSet idle = QuotaSet.of(VirtualQuotas.ACME, BURST);
        virtual.quotas.chargeNow(idle, 20);
        virtual.charge(1, DAILY);
        virtual.pass(Duration.ofSeconds(1));
        for (int i = 0; i < 4 * Account.KEPT; i++) {
            virtual.charge(1, new Quota.Rate("another-" + i, 1, Duration.ofMillis(1), 1));
            virtual.pass(Duration.ofMillis(1));
        }
        Account account = virtual.quotas.account(QuotaOwner.tenant(VirtualQuotas.ACME));
        assertThat(account.size()).isLessThanOrEqualTo(Account.KEPT);
        assertThat(virtual.remaining(DAILY)).isEqualTo(29);
        assertThat(Objects.requireNonNull(virtual.quotas.chargeNow(idle, 15)).allowed())
                .as("the set finds its balance again")
                .isTrue();
        assertThat(virtual.remaining(BURST)).as("the same balance for all sets").isEqualTo(5);
    }

    @Test
    @Timeout(20)
    void an_owner_may_use_more_quotas_than_are_kept_unused() {
        Quota[] many = IntStream.range(0, 2 * Account.KEPT)
                .mapToObj(i -> new Quota.Calendar("daily-" + i, 10, CalendarUnit.DAY, ZoneOffset.UTC))
                .toArray(Quota[]::new);
        assertThat(virtual.charge(1, many).allowed()).isTrue();
        assertThat(virtual.charge(1, BURST, DAILY).allowed()).isTrue();
        assertThat(virtual.check(1, many).balances())
                .extracting(Balance::remaining)
                .containsOnly(9L);
    }

    @Test
    void a_decision_that_passes_allocates_nothing() {
        EmbeddedQuotas quotas = new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
        QuotaSet set = QuotaSet.of(
                VirtualQuotas.ACME,
                new Quota.Rate("burst", 1_000_000, Duration.ofSeconds(1), 1_000_000),
                new Quota.Sliding("sliding", 1_000_000, Duration.ofHours(1)),
                new Quota.Calendar("daily", 1_000_000, CalendarUnit.DAY, ZoneOffset.UTC),
                new Quota.Total("total", 1_000_000));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        decide(quotas, set, 1000);
        long before = threads.getCurrentThreadAllocatedBytes();
        decide(quotas, set, 10_000);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated).as("of 10,000 decisions, by the JVM itself").isLessThan(10_000);
    }

    private static void decide(EmbeddedQuotas quotas, QuotaSet set, int times) {
        for (int i = 0; i < times; i++) {
            QuotaDecision charged = quotas.chargeNow(set, 1);
            if (!quotas.checkNow(set, 1).allowed() || charged == null || !charged.allowed()) {
                throw new AssertionError("refused");
            }
        }
    }

    @Test
    void units_below_one_are_a_bug_of_the_caller() {
        assertThatThrownBy(() -> virtual.quotas.chargeNow(QuotaSet.of(VirtualQuotas.ACME, BURST), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("units: 0 (expected: >= 1)");
        assertThatThrownBy(() -> virtual.quotas.newCharge(QuotaSet.NONE, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> virtual.quotas.check(QuotaSet.NONE, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void concurrent_threads_get_exactly_the_limit() throws Exception {
        Quota.Rate wide = new Quota.Rate("wide", 50_000, Duration.ofDays(1), 50_000);
        Quota.Calendar narrow = new Quota.Calendar("narrow", 30_000, CalendarUnit.DAY, ZoneOffset.UTC);
        List<Long> passed = inParallel(
                // Opposite orders: separate charges would deadlock, or charge only one of the two.
                () -> passedOf(25_000, wide, narrow), () -> passedOf(25_000, narrow, wide));
        assertThat(passed.stream().mapToLong(Long::longValue).sum()).isEqualTo(30_000);
        assertThat(virtual.remaining(narrow)).isZero();
        assertThat(virtual.remaining(wide)).isEqualTo(20_000);
    }

    private long passedOf(int attempts, Quota... asked) {
        long passed = 0;
        for (int i = 0; i < attempts; i++) {
            passed += virtual.charge(1, asked).allowed() ? 1 : 0;
        }
        return passed;
    }

    @SafeVarargs
    private static <T> List<T> inParallel(Callable<T>... tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.length);
        try {
            CyclicBarrier together = new CyclicBarrier(tasks.length);
            List<Future<T>> running = new ArrayList<>();
            for (Callable<T> task : tasks) {
                running.add(threads.submit(() -> {
                    together.await();
                    return task.call();
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : running) {
                results.add(each.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }
}
