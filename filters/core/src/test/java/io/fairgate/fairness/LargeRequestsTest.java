package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.PermitTime;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The grants and the cost of requests for more permits than are free. The mean hold is not known here, so the first budget of a
 * request for four permits is 4 times 2 times 50 ms of idle permit-time; three permits use it up in 133.4 ms.
 */
class LargeRequestsTest {

    private static final long NEVER = Long.MAX_VALUE;
    private static final double FIRST_BUDGET = 0.4;

    private final TestPool pool = new TestPool(4, TenantShares.EQUAL);
    private final TestRequest held = pool.hold("holder", 1);

    private double secondsToEnd() {
        return (pool.scheduler.nextEndOfCollection() - pool.now()) / 1e9;
    }

    @Test
    void others_get_the_collected_permits_when_the_budget_is_used_up() {
        pool.ask("large", 4);
        pool.ask("small", 1, 8);
        assertThat(pool.grant()).isEmpty();
        assertThat(pool.collecting()).isEqualTo(4);
        assertThat(secondsToEnd()).isCloseTo(FIRST_BUDGET / 3, offset(1e-6));
        pool.seconds(0.133);
        assertThat(pool.grant()).isEmpty();

        pool.seconds(0.001);

        assertThat(pool.grant()).containsExactly("small", "small", "small");
        assertThat(pool.collecting()).isZero();
    }

    @Test
    void collected_permits_are_charged_as_if_they_were_held() {
        pool.ask("large", 4);
        pool.ask("small", 1, 8);
        pool.grant();
        pool.seconds(0.1);

        // Three permits idle for a tenth of a second: the virtual time of both rises by half of that.
        assertThat(pool.lagSeconds("large")).isCloseTo(-0.15, offset(1e-6));
        assertThat(pool.lagSeconds("small")).isCloseTo(0.15, offset(1e-6));
    }

    @Test
    void a_cancelled_collection_is_charged() {
        TestRequest large = pool.ask("large", 4);
        pool.ask("small", 1, 8);
        pool.grant();
        pool.seconds(0.1);

        assertThat(pool.cancel(large)).containsExactly("small", "small", "small");
        assertThat(pool.lagSeconds("large")).isLessThan(-0.14);
    }

    @Test
    void an_earlier_lag_does_not_pay_for_a_collection() {
        // "large" is ten seconds behind when its collection begins.
        TestPool owing = new TestPool(4, TenantShares.EQUAL);
        TestRequest one = owing.hold("holder", 1);
        TestRequest all = owing.hold("small", 3);
        TestRequest large = owing.ask("large", 4);
        owing.ask("small", 1, 8);
        owing.grant();
        owing.seconds(10);
        owing.release(all);
        assertThat(owing.lagSeconds("large")).isGreaterThan(10);
        owing.seconds(0.1);

        assertThat(owing.cancel(large)).isNotEmpty();
        assertThat(owing.lagSeconds("large")).isNegative();
        owing.release(one);
    }

    @Test
    void the_next_collection_waits_for_the_holds_that_the_last_one_waited_for() {
        pool.ask("large", 4);
        List<TestRequest> small = pool.ask("small", 1, 100);
        pool.grant();
        pool.seconds(0.134);
        pool.grant();
        for (int i = 0; i < 90; i++) {
            pool.seconds(1);
            assertThat(pool.release(small.get(i))).containsExactly("small");
        }

        assertThat(pool.release(held))
                .as("all permits that the collection waited for are released")
                .isEmpty();
        assertThat(pool.collecting()).isEqualTo(4);
    }

    @Test
    void a_cancelled_collection_does_not_prevent_collections_for_others() {
        TestPool busy = new TestPool(4, TenantShares.EQUAL);
        List<TestRequest> small = busy.ask("small", 1, 100);
        busy.grant();
        TestRequest leaving = busy.ask("leaving", 2);
        TestRequest large = busy.ask("large", 4);
        assertThat(busy.release(small.get(0))).isEmpty();
        busy.seconds(0.001);
        busy.cancel(leaving);

        assertThat(busy.release(small.get(1), small.get(2), small.get(3))).contains("large");
        assertThat(large.isHolding()).isTrue();
    }

    @Test
    void a_tenant_whose_clients_always_leave_gets_no_more_than_its_share() {
        Holds holds = Holds.exponential(Duration.ofMillis(500));
        Load leaving = Load.of("leaving", 3, Holds.constant(Duration.ofMillis(30)))
                .asking(2)
                .leaving(1);
        for (int permits : new int[] {4, 10}) {
            Load large = Load.of("large", 3, holds).asking(permits);
            double alone = usedByLarge(permits, Load.of("a", 20, holds), Load.of("b", 20, holds), large);

            double beside = usedByLarge(permits, Load.of("a", 20, holds), Load.of("b", 20, holds), large, leaving);

            assertThat(alone).isGreaterThan(0.05);
            assertThat(beside).as("beside clients that leave; alone %s", alone).isGreaterThan(0.5 * alone);
        }
    }

    private static double usedByLarge(int permits, Load... loads) {
        Workload workload = Workload.of(permits, TenantShares.EQUAL, Duration.ofMinutes(10), 1, loads)
                .withSettings(FairnessSettings.USUAL.withMaxCollect(Duration.ofSeconds(15)));
        return Simulation.measure(workload, Duration.ofSeconds(5))
                .partOfPool(workload.tenants().indexOf(TenantId.of("large")));
    }

    @Test
    void the_budget_of_a_request_doubles_with_each_failed_collection() {
        TestPool patient =
                new TestPool(4, TenantShares.EQUAL, FairnessSettings.USUAL.withMaxCollect(FairnessSettings.UNBOUNDED));
        TestRequest one = patient.hold("holder", 1);
        patient.ask("large", 4);
        patient.ask("small", 1, 100);
        patient.grant();
        patient.seconds(0.134);
        assertThat(patient.grant()).hasSize(3);
        patient.seconds(100 - 0.134);

        assertThat(patient.release(one)).isEmpty();
        assertThat(patient.collecting()).isEqualTo(4);
        // The only hold that has ended was 100 s long, and one permit idles.
        double inSeconds = (patient.scheduler.nextEndOfCollection() - patient.now()) / 1e9;
        assertThat(inSeconds).isCloseTo(2 * 100 * 4 * 2, offset(1e-3));
    }

    @Test
    void one_collection_is_bounded_by_max_collect() {
        TestPool patient =
                new TestPool(1_000, TenantShares.EQUAL, FairnessSettings.USUAL.withMaxCollect(Duration.ofMillis(20)));
        patient.hold("holder", 999);
        patient.ask("large", 1_000);
        patient.ask("small", 1);
        assertThat(patient.grant()).isEmpty();
        patient.seconds(0.019);
        assertThat(patient.grant()).isEmpty();
        patient.seconds(0.001);

        assertThat(patient.grant()).containsExactly("small");
    }

    @Test
    void a_collection_has_no_end_while_no_other_request_waits() {
        pool.ask("large", 4);
        pool.grant();
        pool.seconds(1_000);
        assertThat(pool.grant()).isEmpty();
        assertThat(pool.scheduler.nextEndOfCollection()).isEqualTo(NEVER);
        assertThat(pool.collecting()).isEqualTo(4);

        pool.ask("small", 1);

        assertThat(pool.grant()).isEmpty();
        assertThat(secondsToEnd()).isCloseTo(FIRST_BUDGET / 3, offset(1e-6));
    }

    @Test
    void a_request_after_a_failed_collection_waits_for_no_collection() {
        pool.ask("large", 4);
        TestRequest first = pool.ask("small", 1);
        pool.grant();
        pool.seconds(0.134);
        assertThat(pool.grant()).containsExactly("small");
        assertThat(pool.release(first)).isEmpty();
        assertThat(pool.collecting()).as("kept while no other request waits").isEqualTo(4);
        for (int i = 0; i < 20; i++) {
            pool.seconds(3);
            TestRequest next = pool.ask("small", 1);
            assertThat(pool.grant()).containsExactly("small");
            pool.seconds(0.01);
            assertThat(pool.release(next)).isEmpty();
        }

        assertThat(pool.release(held)).containsExactly("large");
    }

    @Test
    void requests_of_a_tenant_alone_keep_their_order() {
        pool.ask("holder", 4);
        pool.ask("holder", 1, 3);
        pool.grant();
        pool.seconds(1_000);

        assertThat(pool.grant()).isEmpty();
        assertThat(pool.release(held)).containsExactly("holder");
    }

    @Test
    void a_smaller_request_is_collected_for_after_a_larger_one_has_failed() {
        List<TestRequest> small = pool.ask("small", 1, 5);
        pool.grant();
        pool.ask("all", 4);
        pool.ask("some", 3);
        assertThat(pool.release(small.get(0))).isEmpty();
        assertThat(pool.collecting()).isEqualTo(4);
        pool.seconds(1);
        assertThat(pool.grant()).as("the collection has failed").containsExactly("small");
        assertThat(pool.release(small.get(1))).as("two are still held").containsExactly("small");

        assertThat(pool.release(small.get(2))).isEmpty();
        assertThat(pool.collecting())
                .as("three fit beside the holder, and four do not")
                .isEqualTo(3);
        assertThat(pool.release(small.get(3), small.get(4))).containsExactly("some");
    }

    @Test
    void a_collection_within_a_guarantee_has_no_end() {
        TestPool promised = new TestPool(4, TestPool.shares(Map.of("large", TestPool.guaranteed(4, 0))));
        TestRequest held = promised.hold("holder", 1);
        promised.ask("large", 4);
        promised.ask("small", 1, 8);
        promised.grant();
        promised.seconds(1_000);

        assertThat(promised.grant()).isEmpty();
        assertThat(promised.scheduler.nextEndOfCollection()).isEqualTo(NEVER);
        assertThat(promised.release(held)).containsExactly("large");
    }

    @Test
    void a_guarantee_helps_only_a_request_that_fits_within_it_as_a_whole() {
        TestPool promised = new TestPool(4, TestPool.shares(Map.of("gold", TestPool.guaranteed(1, 0))));
        TestRequest four = promised.hold("other", 4);
        TestRequest one = promised.ask("other", 1);
        promised.seconds(1);
        TestRequest large = promised.ask("gold", 2);
        promised.grant();
        promised.seconds(1);
        assertThat(promised.cancel(large)).isEmpty();

        promised.ask("gold", 1);
        assertThat(promised.release(four)).containsExactly("gold", "other");
        assertThat(one.isHolding()).isTrue();
    }

    @Test
    void a_request_beyond_the_guarantee_competes_by_its_key() {
        TestPool promised = new TestPool(4, TestPool.shares(Map.of("gold", TestPool.guaranteed(1, 0))));
        TestRequest gold = promised.hold("gold", 4);
        promised.ask("other", 1, 4);
        promised.ask("gold", 4);
        promised.grant();
        promised.seconds(1);

        assertThat(promised.release(gold)).containsExactly("other", "other", "other", "other");
    }

    @Test
    void collections_within_the_cap_of_a_group_follow_the_same_rules() {
        TestPool wide = grouped("holder", "large", "small");
        wide.hold("holder", 1);
        wide.ask("large", 4);
        wide.ask("small", 1, 8);
        assertThat(wide.grant()).isEmpty();

        wide.seconds(0.134);
        assertThat(wide.grant()).containsExactly("small", "small", "small");
        assertThat(wide.lagSeconds("large")).isNegative();
    }

    @Test
    void a_class_waits_until_another_class_of_its_tenant_makes_room() {
        TestPool classes = new TestPool(
                4, TenantShares.EQUAL.withClass("x", ShareSettings.EQUAL).withClass("y", ShareSettings.EQUAL));
        TestRequest x = TestRequest.of("one", "x", 1);
        classes.scheduler.enqueue(x, classes.now());
        classes.grant();
        classes.scheduler.enqueue(TestRequest.of("one", "y", 4), classes.now());
        List<TestRequest> small = classes.ask("small", 1, 40);
        classes.grant();
        classes.seconds(1);
        classes.grant();
        for (int i = 0; i < 30; i++) {
            classes.seconds(1);
            assertThat(classes.release(small.get(i))).containsExactly("small");
        }

        assertThat(classes.release(x)).isEmpty();
        assertThat(classes.collecting()).isEqualTo(4);
    }

    @Test
    void a_tenant_that_gets_classes_during_a_collection_keeps_paying() {
        TestPool classes = new TestPool(4, TenantShares.EQUAL.withClass("x", ShareSettings.EQUAL));
        classes.hold("holder", 1);
        TestRequest large = classes.ask("large", 4);
        classes.ask("small", 1, 8);
        classes.grant();
        classes.seconds(0.05);
        TestRequest x = TestRequest.of("large", "x", 1);
        classes.scheduler.enqueue(x, classes.now());
        classes.grant();
        classes.seconds(0.05);

        assertThat(classes.lagSeconds("large")).isCloseTo(-0.15, offset(1e-6));
        classes.cancel(x);
        assertThat(classes.cancel(large)).containsExactly("small", "small", "small");
    }

    @Test
    void a_request_after_a_failed_collection_can_use_the_reservation_of_its_group() {
        TenantShares shares = TenantShares.EQUAL.withGroup(
                "group", Group.of(ShareSettings.ofWeight(10).withGuaranteed(2, 2)));
        for (String tenant : List.of("a", "b")) {
            shares = shares.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "group");
        }
        TestPool reserving = new TestPool(6, shares);
        TestRequest reserved = reserving.hold("b", 2);
        reserving.hold("holder", 1);
        reserving.ask("large", 4);
        List<TestRequest> small = reserving.ask("small", 1, 8);
        reserving.grant();
        reserving.seconds(1);
        reserving.grant();
        reserving.ask("a", 2);
        reserving.release(small.get(0));

        assertThat(reserving.release(reserved)).contains("a");
    }

    @Test
    void large_requests_get_their_share_beside_small_ones_with_long_holds() {
        Holds holds = Holds.exponential(Duration.ofMinutes(10));
        Workload workload = Workload.of(
                        10,
                        TenantShares.EQUAL,
                        Duration.ofDays(10),
                        1,
                        Load.of("a", 20, holds).asking(8),
                        Load.of("b", 30, holds))
                .withSettings(new FairnessSettings(Duration.ofDays(1), FairnessSettings.UNBOUNDED));
        PermitTime time = Simulation.measure(workload, Duration.ZERO);

        assertThat(time.partOfPool(1)).as("the small requests").isBetween(0.48, 0.55);
        assertThat(time.partOfPool(0))
                .as("the large requests, without their idle permits")
                .isGreaterThan(0.25);
    }

    /** A pool with all tenants in one group that may hold 4 of 10 permits. */
    private static TestPool grouped(String... tenants) {
        TenantShares grouped = TenantShares.EQUAL.withGroup("group", Group.of(ShareSettings.EQUAL.withMaxInFlight(4)));
        for (String tenant : tenants) {
            grouped = grouped.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "group");
        }
        return new TestPool(10, grouped);
    }
}
