package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Hard cases of a hierarchy, one at a time.
 */
class TreeHardCasesTest {

    private static final ShareSettings EQUAL = ShareSettings.EQUAL;

    /** Two groups of equal weight: x and y in acme, z in globex. */
    private static TenantShares twoGroups(ShareSettings acme) {
        return TenantShares.EQUAL
                .withGroup("acme", Group.of(acme))
                .withGroup("globex", Group.of(EQUAL))
                .withMember(TenantId.of("x"), EQUAL, "acme")
                .withMember(TenantId.of("y"), EQUAL, "acme")
                .withMember(TenantId.of("z"), EQUAL, "globex");
    }

    private static GroupStatus group(TestPool pool, String name) {
        return pool.scheduler.status(pool.now()).groups().stream()
                .filter(group -> group.group().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static long count(List<String> granted, String tenant) {
        return granted.stream().filter(tenant::equals).count();
    }

    @Test
    void groups_share_the_pool_and_tenants_share_their_group() {
        TestPool pool = new TestPool(12, twoGroups(ShareSettings.ofWeight(2)));
        pool.ask("x", 1, 20);
        pool.ask("y", 1, 20);
        pool.ask("z", 1, 20);

        List<String> granted = pool.grant();

        assertThat(count(granted, "x")).isEqualTo(4);
        assertThat(count(granted, "y")).isEqualTo(4);
        assertThat(count(granted, "z")).isEqualTo(4);
        assertThat(group(pool, "acme").inFlight()).isEqualTo(8);
        assertThat(group(pool, "acme").share()).isEqualTo(8, offset(1e-9));
        assertThat(pool.status("x").share()).isEqualTo(4, offset(1e-9));
        assertThat(pool.status("x").parent()).isEqualTo("acme");
    }

    /** The hierarchy in docs/fairness.md. */
    @Test
    void the_tree_of_the_documentation_has_the_documented_shares() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme-corp", Group.of(ShareSettings.ofWeight(2).withMaxInFlight(10)))
                .withGroup("globex", Group.of(EQUAL))
                .withMember(TenantId.of("acme-shop"), ShareSettings.ofWeight(3), "acme-corp")
                .withMember(TenantId.of("acme-lab"), EQUAL, "acme-corp")
                .withMember(TenantId.of("globex-web"), EQUAL, "globex")
                .withClass("interactive", ShareSettings.ofWeight(2))
                .withClass("batch", EQUAL);
        TestPool pool = new TestPool(12, shares);
        List<TestRequest> interactive = askOfClass(pool, "acme-shop", "interactive", 20);
        List<TestRequest> batch = askOfClass(pool, "acme-shop", "batch", 20);
        pool.ask("acme-lab", 1, 20);
        pool.ask("globex-web", 1, 20);

        List<String> granted = pool.grant();

        assertThat(count(granted, "acme-shop")).isEqualTo(6);
        assertThat(count(granted, "acme-lab")).isEqualTo(2);
        assertThat(count(granted, "globex-web")).isEqualTo(4);
        assertThat(interactive.stream().filter(TestRequest::isHolding)).hasSize(4);
        assertThat(batch.stream().filter(TestRequest::isHolding)).hasSize(2);
    }

    @Test
    void unused_permits_of_a_tenant_go_to_its_group_first() {
        TestPool pool = new TestPool(12, twoGroups(EQUAL));
        pool.ask("y", 1, 20);
        pool.ask("z", 1, 20);

        assertThat(count(pool.grant(), "y"))
                .as("x is idle, and acme has its half")
                .isEqualTo(6);
    }

    @Test
    void a_group_at_its_cap_does_not_block_others_and_earns_no_credit() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL.withMaxInFlight(3)));
        TestRequest first = pool.hold("x", 1);
        pool.ask("y", 1, 5);
        List<TestRequest> waits = pool.ask("x", 1, 5);
        pool.grant();
        pool.ask("z", 1, 20);

        assertThat(pool.grant()).as("the rest is for z").hasSize(7).containsOnly("z");
        assertThat(pool.scheduler.waitsForOwnCap(waits.get(4))).isTrue();
        pool.seconds(100);
        assertThat(group(pool, "acme").lag().toNanos())
                .as("does not compete, and so has no lag")
                .isNotPositive();
        assertThat(pool.release(first))
                .as("a permit released within the group goes to the group")
                .hasSize(1)
                .doesNotContain("z");
    }

    @Test
    void a_group_without_room_for_its_next_request_earns_no_credit() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL.withMaxInFlight(4)));
        pool.hold("y", 3);
        pool.hold("z", 7);
        pool.ask("z", 1);
        pool.ask("x", 2);
        pool.ask("y", 1);
        pool.grant();
        pool.seconds(100);

        assertThat(group(pool, "acme").lag().toNanos())
                .as("of 300 permit-seconds, beside 700")
                .isNotPositive();
        assertThat(group(pool, "globex").lag()).as("the only one that competes").isZero();
    }

    @Test
    void a_group_that_collects_permits_does_not_compete_meanwhile() {
        TestPool pool = new TestPool(
                10, twoGroups(EQUAL.withMaxInFlight(4)).withGroup("globex", Group.of(ShareSettings.ofWeight(10))));
        pool.hold("y", 3);
        pool.hold("z", 7);
        pool.ask("x", 3);
        pool.grant();
        pool.ask("z", 1);
        pool.ask("y", 1);
        pool.grant();
        pool.seconds(100);

        assertThat(group(pool, "globex").lag()).as("the only one that competes").isZero();
    }

    @Test
    void a_tenant_whose_calculated_cap_rises_joins_at_the_current_virtual_time() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("g", Group.of(EQUAL))
                .withMember(TenantId.of("a"), ShareSettings.ofWeight(10), "g")
                .withMember(TenantId.of("b"), EQUAL, "g")
                .withMember(TenantId.of("c"), TestPool.guaranteed(7, 0))
                .withCalculator((permits, active) -> active >= 4 ? 2 : 3);
        TestPool pool = new TestPool(10, shares, TestPool.NEVER_FORGETS);
        TestRequest leaves = pool.ask("d", 11);
        pool.hold("c", 7);
        pool.hold("a", 2);
        pool.hold("b", 1);
        pool.ask("a", 1);
        pool.ask("b", 1);
        pool.grant();
        pool.seconds(100);

        // Not through the status, which would advance the clocks.
        pool.cancel(leaves);

        assertThat(pool.lagSeconds("a")).isEqualTo(0, offset(1e-6));
        assertThat(pool.lagSeconds("b")).isEqualTo(0, offset(1e-6));
    }

    @Test
    void tenants_of_a_group_at_its_cap_share_it_by_permit_time() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL.withMaxInFlight(1)));
        double[] held = new double[2];
        TestRequest running = pool.hold("x", 1);
        pool.ask("x", 1, 500);
        pool.ask("y", 1, 500);
        for (int i = 0; i < 400; i++) {
            boolean isX = running.tenant().value().equals("x");
            double seconds = isX ? 1 : 0.1;
            pool.grant();
            pool.seconds(seconds);
            held[isX ? 0 : 1] += seconds;
            running = pool.releaseForNext(running);
        }
        assertThat(held[0] / (held[0] + held[1])).isEqualTo(0.5, offset(0.05));
    }

    @Test
    void any_tenant_of_a_group_may_use_its_reservation() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL.withGuaranteed(4, 4)));
        pool.ask("z", 1, 20);
        assertThat(pool.grant()).as("four stay free").hasSize(6);
        pool.ask("x", 1, 2);
        pool.ask("y", 1, 3);

        assertThat(pool.grant()).containsExactlyInAnyOrder("x", "x", "y", "y");
    }

    @Test
    void the_reservation_of_a_tenant_stays_free_within_the_cap_of_its_group() {
        TenantShares shares =
                twoGroups(EQUAL.withMaxInFlight(5)).withMember(TenantId.of("x"), EQUAL.withGuaranteed(2, 2), "acme");
        TestPool pool = new TestPool(10, shares);
        pool.ask("y", 1, 20);
        assertThat(pool.grant()).as("two of the group's five are kept").hasSize(3);
        pool.ask("z", 1, 20);
        assertThat(pool.grant()).as("and of the pool").hasSize(5);
        pool.ask("x", 1, 3);

        assertThat(pool.grant()).containsExactly("x", "x");
    }

    @Test
    void a_collection_within_a_group_does_not_delay_other_groups() {
        TestPool pool = new TestPool(20, twoGroups(EQUAL.withMaxInFlight(4)));
        List<TestRequest> small = pool.ask("x", 1, 4);
        pool.grant();
        TestRequest large = pool.ask("y", 3);
        pool.ask("x", 1, 10);
        pool.seconds(1);

        assertThat(pool.release(small.get(0)))
                .as("the large request collects within the group")
                .isEmpty();
        pool.ask("z", 1, 5);
        assertThat(pool.grant()).as("the pool has enough for others").hasSize(5).containsOnly("z");
        assertThat(pool.collecting()).as("nothing collects in the pool").isZero();
        assertThat(pool.release(small.get(1))).isEmpty();
        assertThat(pool.release(small.get(2))).containsExactly("y");
        assertThat(large.isHolding()).isTrue();
    }

    @Test
    void a_new_tenant_with_a_lower_key_does_not_starve_a_collection_in_its_group() {
        TestPool pool = new TestPool(
                20, twoGroups(EQUAL.withMaxInFlight(5)).withMember(TenantId.of("newcomer"), EQUAL, "acme"));
        List<TestRequest> small = pool.ask("x", 1, 4);
        pool.grant();
        pool.hold("y", 1);
        pool.ask("y", 3);
        assertThat(pool.release(small.get(0)))
                .as("one of the group's permits is free")
                .isEmpty();
        pool.ask("newcomer", 1);

        assertThat(pool.grant()).isEmpty();
        assertThat(pool.release(small.get(1))).isEmpty();
        assertThat(pool.release(small.get(2))).containsExactly("y");
    }

    @Test
    void a_new_tenant_does_not_overtake_a_collection_in_its_group() {
        TestPool pool = new TestPool(
                20, twoGroups(EQUAL.withMaxInFlight(5)).withMember(TenantId.of("newcomer"), EQUAL, "acme"));
        List<TestRequest> small = pool.ask("x", 1, 4);
        pool.grant();
        pool.hold("y", 1);
        pool.ask("y", 3);
        pool.ask("x", 1);
        assertThat(pool.release(small.get(0))).as("y is next, and x would fit").isEmpty();
        pool.ask("newcomer", 1);

        assertThat(pool.grant()).isEmpty();
        assertThat(pool.release(small.get(1))).isEmpty();
        assertThat(pool.release(small.get(2))).containsExactly("y");
    }

    @Test
    void a_large_request_in_a_group_collects_permits_of_the_pool() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL));
        List<TestRequest> small = pool.ask("z", 1, 10);
        pool.grant();
        pool.ask("x", 3);
        pool.seconds(1);
        assertThat(pool.release(small.get(0))).isEmpty();
        assertThat(pool.collecting()).isEqualTo(3);
        pool.ask("y", 1);
        pool.ask("z", 1);

        assertThat(pool.release(small.get(1))).isEmpty();
        assertThat(pool.release(small.get(2))).containsExactly("x");
    }

    @Test
    void a_request_beyond_the_room_of_its_group_stops_collecting_in_the_pool() {
        TestPool pool = new TestPool(
                10,
                twoGroups(EQUAL.withMaxInFlight(6).withGuaranteed(2, 0))
                        .withMember(TenantId.of("y"), TestPool.guaranteed(2, 0), "acme"));
        List<TestRequest> held = pool.ask("z", 1, 8);
        pool.grant();
        pool.ask("x", 5);
        pool.grant();
        assertThat(pool.collecting()).isEqualTo(5);
        pool.ask("z", 1, 2);
        pool.hold("y", 2);

        assertThat(pool.collecting()).as("acme has room for 4").isZero();
        assertThat(pool.release(held.get(0))).containsExactly("z");
    }

    @Test
    void cancellations_do_not_interrupt_a_collection_in_the_pool() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL));
        List<TestRequest> held = pool.ask("z", 1, 8);
        pool.grant();
        pool.seconds(1);
        pool.ask("x", 5);
        TestRequest leaves = pool.ask("z", 1);
        pool.grant();
        assertThat(pool.collecting()).isEqualTo(5);
        pool.cancel(leaves);

        assertThat(pool.collecting()).isEqualTo(5);
        pool.ask("z", 1);
        assertThat(pool.release(held.get(0))).isEmpty();
        assertThat(pool.release(held.get(1), held.get(2))).startsWith("x");
    }

    @Test
    void a_cancelled_collection_in_a_group_frees_its_permits_for_the_group() {
        TestPool pool = new TestPool(20, twoGroups(EQUAL.withMaxInFlight(4)));
        List<TestRequest> small = pool.ask("x", 1, 4);
        pool.grant();
        TestRequest large = pool.ask("y", 3);
        pool.ask("x", 1, 10);
        pool.seconds(1);
        assertThat(pool.release(small.get(0), small.get(1))).isEmpty();

        assertThat(pool.cancel(large)).containsExactly("x", "x");
    }

    @Test
    void a_request_beyond_the_cap_of_its_group_can_never_fit() {
        TestPool pool = new TestPool(20, twoGroups(EQUAL.withMaxInFlight(4)));
        pool.ask("x", 5);
        pool.ask("x", 1);
        pool.ask("z", 1);

        assertThat(pool.scheduler.canEverFit(TenantId.of("x"), 5)).isFalse();
        assertThat(pool.scheduler.canEverFit(TenantId.of("x"), 4)).isTrue();
        assertThat(pool.grant()).containsExactly("z");
    }

    @Test
    void a_tenant_that_moves_to_another_group_keeps_its_permits_and_its_lag() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL));
        List<TestRequest> held = pool.ask("x", 1, 5);
        pool.ask("z", 1, 30);
        pool.grant();
        pool.ask("x", 1, 30);
        pool.ask("y", 1, 30);
        pool.grant();
        pool.seconds(0.5);
        double lag = pool.lagSeconds("x");
        assertThat(lag).isNegative();

        pool.reconfigure(twoGroups(EQUAL).withMember(TenantId.of("x"), EQUAL, "globex"));

        assertThat(group(pool, "acme").inFlight()).isZero();
        assertThat(group(pool, "globex").inFlight()).isEqualTo(10);
        assertThat(pool.status("x").parent()).isEqualTo("globex");
        // The virtual time of its new group changes a little when it joins.
        assertThat(pool.lagSeconds("x") - pool.lagSeconds("z")).isEqualTo(lag, offset(1e-6));
        assertThat(pool.release(held.get(0))).containsExactly("y");
        assertThat(pool.release(held.subList(1, 5).toArray(new TestRequest[0]))).containsExactly("y", "y", "y", "y");
        assertThat(group(pool, "acme").inFlight()).isEqualTo(5);
    }

    @Test
    void a_new_tenant_has_no_lag_after_large_changes_of_the_virtual_time() {
        TestPool pool = new TestPool(1, TenantShares.EQUAL, TestPool.NEVER_FORGETS);
        pool.hold("a", 1);
        pool.ask("a", 1);
        pool.ask("b", 1);
        pool.grant();
        pool.seconds(2_000);
        assertThat(pool.lagSeconds("b")).isEqualTo(1_000, offset(1e-6));

        // Alone in its group and with a small weight, the lag of b makes the virtual time far lower than before.
        pool.reconfigure(TenantShares.EQUAL
                .withGroup("g", Group.of(EQUAL))
                .withMember(TenantId.of("a"), EQUAL, "g")
                .withMember(TenantId.of("b"), ShareSettings.ofWeight(0.001))
                .withMember(TenantId.of("heavy"), ShareSettings.ofWeight(ShareSettings.MAX_WEIGHT)));
        pool.ask("heavy", 1);

        assertThat(pool.lagSeconds("heavy")).isEqualTo(0, offset(1.0));
    }

    @Test
    void tenants_of_a_removed_group_compete_directly_in_the_pool() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL.withMaxInFlight(4)));
        List<TestRequest> held = pool.ask("x", 1, 10);
        assertThat(pool.grant()).hasSize(4);

        assertThat(pool.reconfigure(TenantShares.EQUAL.withMember(TenantId.of("x"), EQUAL)))
                .as("the cap is gone with the group")
                .hasSize(6);
        assertThat(pool.scheduler.status(0).groups()).isEmpty();
        pool.release(held.toArray(new TestRequest[0]));
        assertThat(pool.scheduler.inFlight()).isZero();
    }

    @Test
    void a_group_inside_another_is_bound_by_both_caps() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("outer", Group.of(EQUAL.withMaxInFlight(3)))
                .withGroup("inner", new Group(EQUAL.withMaxInFlight(2), "outer"))
                .withMember(TenantId.of("x"), EQUAL, "inner")
                .withMember(TenantId.of("y"), EQUAL, "outer");
        TestPool pool = new TestPool(10, shares);
        pool.ask("x", 1, 10);
        assertThat(pool.grant()).hasSize(2);
        pool.ask("y", 1, 10);
        assertThat(pool.grant()).hasSize(1);
    }

    @Test
    void classes_divide_a_tenants_share_and_requests_without_a_class_are_one_class() {
        TenantShares shares = TenantShares.EQUAL
                .withClass("batch", EQUAL.withMaxInFlight(2))
                .withClass("page", ShareSettings.ofWeight(3));
        TestPool pool = new TestPool(12, shares);
        List<TestRequest> plain = pool.ask("x", 1, 2);
        assertThat(pool.grant()).hasSize(2);
        List<TestRequest> batch = askOfClass(pool, "x", "batch", 20);
        List<TestRequest> page = askOfClass(pool, "x", "page", 20);
        plain = new ArrayList<>(plain);
        plain.addAll(pool.ask("x", 1, 20));
        pool.grant();

        assertThat(batch.stream().filter(TestRequest::isHolding)).hasSize(2);
        assertThat(page.stream().filter(TestRequest::isHolding)).hasSizeBetween(7, 8);
        assertThat(plain.stream().filter(TestRequest::isHolding)).hasSizeBetween(2, 3);
        assertThat(pool.status("x").inFlight()).isEqualTo(12);
        assertThat(pool.scheduler.waitsForOwnCap(batch.get(19))).isTrue();
        assertThat(pool.scheduler.canEverFit(TestRequest.of("x", "batch", 3))).isFalse();
    }

    @Test
    void the_first_request_of_a_class_keeps_the_lag_and_the_weight_of_its_tenant() {
        TestPool pool = new TestPool(
                10,
                TenantShares.EQUAL
                        .withMember(TenantId.of("b"), ShareSettings.ofWeight(5))
                        .withClass("page", EQUAL));
        List<TestRequest> held = pool.ask("a", 1, 30);
        pool.grant();
        pool.ask("b", 1, 30);
        pool.grant();
        pool.seconds(0.3);
        double lag = pool.lagSeconds("b");
        assertThat(lag).isPositive();
        List<TestRequest> page = askOfClass(pool, "b", "page", 30);
        assertThat(pool.lagSeconds("b")).isEqualTo(lag, offset(1e-6));

        pool.release(held.subList(0, 8).toArray(new TestRequest[0]));
        assertThat(pool.status("b").inFlight()).isEqualTo(8);
        assertThat(page.stream().filter(TestRequest::isHolding))
                .as("the weight is that of b and not of its plain requests")
                .hasSize(4);
    }

    @Test
    void usage_before_the_first_class_is_no_debt_of_requests_without_a_class() {
        TestPool pool = new TestPool(4, TenantShares.EQUAL.withClass("page", EQUAL), TestPool.NEVER_FORGETS);
        List<TestRequest> held = pool.ask("x", 1, 4);
        pool.grant();
        pool.ask("y", 1);
        pool.grant();
        pool.seconds(100);
        assertThat(pool.release(held.get(0))).containsExactly("y");
        List<TestRequest> page = askOfClass(pool, "x", "page", 4);
        pool.ask("x", 1, 4);
        pool.release(held.subList(1, 4).toArray(new TestRequest[0]));

        assertThat(page.stream().filter(TestRequest::isHolding).count()).isBetween(1L, 2L);
    }

    @Test
    void a_calculated_cap_bounds_a_tenant_with_classes() {
        TestPool pool =
                new TestPool(10, TenantShares.EQUAL.withClass("page", EQUAL).withCalculator((permits, active) -> 3));
        askOfClass(pool, "x", "page", 5);
        pool.ask("x", 1, 5);

        assertThat(pool.grant()).hasSize(3);
    }

    @Test
    void a_removed_group_reserves_nothing() {
        TestPool pool = new TestPool(10, twoGroups(TestPool.guaranteed(4, 4)));
        pool.ask("z", 1, 10);
        assertThat(pool.grant()).hasSize(6);

        assertThat(pool.reconfigure(TenantShares.EQUAL)).hasSize(4);
    }

    private static List<TestRequest> askOfClass(TestPool pool, String tenant, String requestClass, int times) {
        List<TestRequest> requests = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            TestRequest request = TestRequest.of(tenant, requestClass, 1);
            pool.scheduler.enqueue(request, pool.now());
            requests.add(request);
        }
        return requests;
    }

    @Test
    void requests_of_a_removed_class_continue_as_requests_without_a_class() {
        TestPool pool = new TestPool(4, TenantShares.EQUAL.withClass("batch", EQUAL.withMaxInFlight(1)));
        List<TestRequest> batch = askOfClass(pool, "x", "batch", 3);
        assertThat(pool.grant()).hasSize(1);

        assertThat(pool.reconfigure(TenantShares.EQUAL)).hasSize(2);
        pool.release(batch.toArray(new TestRequest[0]));
        assertThat(pool.knows("x")).as("it is forgotten when it is idle").isFalse();
    }

    @Test
    void beyond_the_queue_bound_of_a_group_its_longest_queue_is_cut() {
        TestPool pool = new TestPool(1, twoGroups(EQUAL.withMaxWaiting(3)));
        pool.hold("z", 1);
        List<TestRequest> flood = pool.ask("x", 1, 3);
        TestRequest modest = pool.ask("y", 1);

        assertThat(pool.scheduler.overOwnBound(modest)).isSameAs(flood.get(2));
    }

    @Test
    void a_class_is_bound_by_its_cap_and_a_change_keeps_its_hold_times() {
        TenantShares shares = TenantShares.EQUAL.withClass("batch", EQUAL.withMaxInFlight(2));
        TestPool pool = new TestPool(4, shares);
        assertThat(pool.scheduler.canEverFit(TestRequest.of("x", "batch", 2))).isTrue();
        assertThat(pool.scheduler.canEverFit(TestRequest.of("x", "batch", 3))).isFalse();
        pool.seconds(5);
        askOfClass(pool, "x", "batch", 3);
        assertThat(pool.grant()).hasSize(2);
        pool.seconds(10);
        assertThat(pool.status("x").held()).as("2 permits for 10 s").hasSeconds(20);

        pool.reconfigure(shares.withClass("page", EQUAL));
        assertThat(pool.status("x").held()).hasSeconds(20);
    }

    @Test
    void a_reservation_counts_only_if_it_covers_the_next_request_of_the_group() {
        TestPool pool = new TestPool(
                10, twoGroups(TestPool.guaranteed(2, 2)).withMember(TenantId.of("gold"), TestPool.guaranteed(4, 0)));
        pool.hold("x", 1);
        pool.ask("y", 2);
        pool.ask("x", 1);
        pool.ask("gold", 1);

        // Although x would cost nothing: y is before x, and acme uses a larger part of its guarantee than gold.
        assertThat(pool.grant()).startsWith("gold");
    }

    @Test
    void the_next_request_of_a_group_is_chosen_with_current_accounts() {
        TestPool pool = new TestPool(6, twoGroups(EQUAL), TestPool.NEVER_FORGETS);
        List<TestRequest> y = pool.ask("y", 1, 3);
        pool.grant();
        TestRequest z = pool.hold("z", 3);
        pool.ask("x", 1, 2);
        pool.grant();
        pool.seconds(0.6);
        assertThat(pool.release(y.get(0), y.get(1))).containsExactly("x", "x");
        pool.ask("x", 1);
        pool.ask("y", 1, 3);
        pool.grant();
        // The keys: x has 0 s and two permits of 1 s, y 1.8 s and one. After 0.8 s of that they are equal.
        pool.seconds(1.6);

        assertThat(pool.release(z)).startsWith("y");
    }

    @Test
    void the_gain_within_a_group_follows_its_own_holds() {
        FairScheduler scheduler = new FairScheduler(2, twoGroups(EQUAL), FairnessSettings.USUAL, 0);
        List<String> granted = new ArrayList<>();
        long now = 0;
        List<TestRequest> first = List.of(TestRequest.of("y", 1), TestRequest.of("y", 1));
        for (TestRequest request : first) {
            scheduler.enqueue(request, now);
        }
        scheduler.grant(now, request -> {});
        now += 10_000_000_000L;
        for (TestRequest request : first) {
            scheduler.release(request, now);
        }
        List<TestRequest> second = List.of(TestRequest.of("y", 1), TestRequest.of("y", 1));
        for (TestRequest request : second) {
            scheduler.enqueue(request, now);
        }
        scheduler.grant(now, request -> {});
        for (int i = 0; i < 2; i++) {
            scheduler.enqueue(TestRequest.of("x", 1), now);
        }
        scheduler.grant(now, request -> {});
        now += 2_500_000_000L;
        for (TestRequest request : second) {
            scheduler.release(request, now);
        }
        scheduler.enqueue(TestRequest.of("y", 1), now);
        scheduler.grant(now, request -> granted.add(request.tenant().value()));

        // One permit counts for 20 s, which is more than the 5 s that y is ahead.
        assertThat(granted).containsExactly("x", "y");
    }

    @Test
    void permits_taken_from_slots_count_at_every_level() {
        TestPool pool = new TestPool(10, twoGroups(EQUAL));
        assertThat(pool.scheduler.moveToSlots(10)).isEqualTo(10);
        TestRequest taken = TestRequest.of("x", 1);
        pool.scheduler.countTaken(taken, 0, pool.now());
        pool.scheduler.moveFromSlots(9);

        assertThat(group(pool, "acme").inFlight()).isEqualTo(1);
        pool.ask("z", 1, 20);
        assertThat(pool.grant()).hasSize(9);
    }

    @Test
    void only_unbounded_tenants_may_use_the_fast_path() {
        TenantShares shares = twoGroups(EQUAL.withMaxInFlight(4));

        assertThat(shares.mayTakeUnasked(TenantId.of("x"))).isFalse();
        assertThat(shares.mayTakeUnasked(TenantId.of("z"))).isTrue();
        assertThat(shares.withClass("batch", EQUAL.withMaxInFlight(1)).mayTakeUnasked(TenantId.of("z")))
                .isFalse();
    }

    @Test
    void an_invalid_tree_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TenantShares.EQUAL.withGroup("a", new Group(EQUAL, "b")))
                .withMessage("groups.a.parent: b (expected: the name of a group)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TenantShares.EQUAL.withMember(TenantId.of("t"), EQUAL, "b"))
                .withMessage("members.t.parent: b (expected: the name of a group)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> twoGroups(EQUAL)
                        .withGroup("acme", new Group(EQUAL, "globex"))
                        .withGroup("globex", new Group(EQUAL, "acme")))
                .withMessage("groups.acme.parent: globex (expected: a group that is not in this one)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> {
                    TenantShares nested = TenantShares.EQUAL.withGroup("g0", Group.of(EQUAL));
                    for (int i = 1; i <= ShareGroups.MAX_NESTING; i++) {
                        nested = nested.withGroup("g" + i, new Group(EQUAL, "g" + (i - 1)));
                    }
                })
                .withMessage("groups.g6.parent: g5 (expected: at most 6 groups one in another)");
    }

    @Test
    void reservations_that_a_group_cannot_keep_are_refused() {
        ShareSettings reserving = EQUAL.withGuaranteed(3, 3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> twoGroups(EQUAL.withMaxInFlight(2)).withMember(TenantId.of("x"), reserving, "acme"))
                .withMessage("groups.acme.max-in-flight: 2 (expected: at least 3, which those in it reserve together)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> twoGroups(EQUAL.withGuaranteed(2, 2)).withMember(TenantId.of("x"), reserving, "acme"))
                .withMessage(
                        "groups.acme.reserved: 2 (expected: 0, or at least 3, which those in it reserve together)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TenantShares.EQUAL.withClass("batch", reserving))
                .withMessage("classes.batch.reserved: 3 (expected: 0, because each tenant has each class)");
        assertThat(twoGroups(EQUAL)
                        .withMember(TenantId.of("x"), reserving, "acme")
                        .reserved())
                .isEqualTo(3);
        assertThat(twoGroups(EQUAL.withGuaranteed(5, 5))
                        .withMember(TenantId.of("x"), reserving, "acme")
                        .reserved())
                .isEqualTo(5);
    }

    // ---- the status ----

    @Test
    void an_idle_tenant_is_in_the_status_until_its_debt_is_forgotten() {
        TestPool pool = new TestPool(2, TenantShares.EQUAL.withMember(TenantId.of("x"), EQUAL));
        TestRequest held = pool.hold("x", 2);
        TestRequest waiting = pool.ask("x", 1);
        pool.ask("y", 1, 1000);
        pool.grant();
        pool.seconds(1);
        pool.cancel(waiting);
        pool.release(held);
        pool.grant();
        assertThat(pool.scheduler.present(pool.now()).tenants())
                .filteredOn(tenant -> tenant.tenant().value().equals("x"))
                .containsExactly(pool.status("x"))
                .allSatisfy(tenant -> assertThat(tenant.lag()).isNegative());

        pool.seconds(100);
        pool.grant();
        assertThat(pool.scheduler.present(pool.now()).tenants())
                .extracting(tenant -> tenant.tenant().value())
                .containsExactly("y");
    }
}
