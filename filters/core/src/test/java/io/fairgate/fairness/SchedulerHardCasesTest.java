package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hard cases in which schedulers of this kind were wrong, one at a time.
 */
class SchedulerHardCasesTest {

    private final TestPool pool = new TestPool(10, TenantShares.EQUAL);

    @Test
    void several_released_permits_are_granted_together() {
        TestRequest large = pool.hold("a", 10);
        pool.ask("b", 1, 4);
        pool.ask("c", 1, 4);
        assertThat(pool.grant()).isEmpty();

        assertThat(pool.release(large)).containsExactly("b", "c", "b", "c", "b", "c", "b", "c");
    }

    @Test
    void a_collection_begins_only_when_a_permit_is_free() {
        List<TestRequest> small = pool.ask("small", 1, 10);
        pool.grant();
        pool.ask("large", 8);
        pool.grant();
        assertThat(pool.collecting()).as("collects while no permit is free").isZero();

        pool.release(small.get(0));

        assertThat(pool.collecting()).as("collects once a permit is free").isEqualTo(8);
    }

    @Test
    void a_new_tenant_with_a_lower_key_does_not_starve_a_collection() {
        List<TestRequest> small = pool.ask("small", 1, 10);
        pool.grant();
        TestRequest large = pool.ask("large", 3);
        pool.seconds(1);
        pool.release(small.get(0));
        for (int i = 1; i < 3; i++) {
            pool.ask("newcomer" + i, 1);
            assertThat(pool.grant()).isEmpty();
            assertThat(large.isWaiting()).isTrue();
            assertThat(pool.release(small.get(i))).isEqualTo(i < 2 ? List.of() : List.of("large"));
        }
    }

    @Test
    void a_cancelled_collection_frees_its_permits_for_the_others() {
        List<TestRequest> small = pool.ask("small", 1, 10);
        pool.grant();
        TestRequest large = pool.ask("large", 5);
        pool.seconds(1);
        pool.release(small.get(0), small.get(1));
        pool.ask("other", 1, 2);
        assertThat(pool.grant()).isEmpty();

        assertThat(pool.cancel(large)).containsExactly("other", "other");
    }

    @Test
    void a_request_beyond_a_shrunk_pool_waits_and_blocks_no_other() {
        pool.resize(4);
        TestRequest tooLarge = pool.ask("large", 6);

        assertThat(pool.grant()).isEmpty();
        assertThat(pool.scheduler.canEverFit(tooLarge.tenant(), 6)).isFalse();
        assertThat(pool.collecting()).isZero();
        pool.ask("small", 1, 4);
        assertThat(pool.grant()).hasSize(4);
        assertThat(pool.resize(10)).containsExactly("large");
    }

    @Test
    void a_request_beyond_its_tenants_cap_waits_and_blocks_no_other() {
        TestPool capped = new TestPool(10, TestPool.shares(Map.of("capped", ShareSettings.EQUAL.withMaxInFlight(3))));
        TestRequest tooLarge = capped.ask("capped", 4);
        capped.ask("other", 1);

        assertThat(capped.grant()).containsExactly("other");
        assertThat(capped.scheduler.waitsForOwnCap(tooLarge)).isTrue();
        assertThat(capped.scheduler.canEverFit(tooLarge.tenant(), 4)).isFalse();
        assertThat(capped.scheduler.canEverFit(tooLarge.tenant(), 3)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void a_request_for_no_permits_or_fewer_is_refused(int permits) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.ask("a", permits))
                .withMessage("permits: %d (expected: >= 1)", permits);
        assertThatIllegalArgumentException().isThrownBy(() -> pool.resize(permits));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new TestPool(permits, TenantShares.EQUAL))
                .withMessage("permits: %d (expected: >= 1)", permits);
    }

    @Test
    void a_request_for_max_int_permits_waits_without_an_overflow() {
        pool.hold("a", 1);
        TestRequest largest = pool.ask("a", Integer.MAX_VALUE);
        pool.ask("b", 1);

        assertThat(pool.grant()).containsExactly("b");
        assertThat(largest.isWaiting()).isTrue();
        assertThat(pool.scheduler.inFlight()).isEqualTo(2);
    }

    @Test
    void a_pool_smaller_than_its_permits_in_flight_grants_nothing_until_they_fit() {
        List<TestRequest> held = pool.ask("a", 1, 8);
        pool.grant();
        pool.ask("b", 1, 8);
        pool.grant();

        assertThat(pool.resize(3)).isEmpty();
        assertThat(pool.scheduler.inFlight()).as("nothing is taken back").isEqualTo(10);
        for (TestRequest request : held.subList(0, 7)) {
            assertThat(pool.release(request)).isEmpty();
        }
        assertThat(pool.release(held.get(7))).containsExactly("b");
        assertThat(pool.resize(10)).containsExactly("b", "b", "b", "b", "b");
    }

    @Test
    void a_change_of_weight_during_a_wait_keeps_the_lag_in_permit_time() {
        pool.ask("a", 1, 30);
        pool.grant();
        pool.ask("b", 1, 30);
        pool.grant();
        pool.seconds(0.3);
        double behind = pool.lagSeconds("b");
        assertThat(behind).isEqualTo(1.5, offset(1e-6));

        pool.reconfigure(TestPool.shares(Map.of("b", ShareSettings.ofWeight(5))));

        assertThat(pool.lagSeconds("b")).isEqualTo(behind, offset(1e-6));
        assertThat(pool.lagSeconds("a")).isEqualTo(-behind, offset(1e-6));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY, 1e7})
    void an_invalid_weight_is_refused(double weight) {
        assertThatIllegalArgumentException().isThrownBy(() -> ShareSettings.ofWeight(weight));
    }

    @Test
    void a_tenant_at_its_cap_does_not_compete_and_no_tenant_is_charged_for_its_wait() {
        TestPool capped = new TestPool(10, TestPool.shares(Map.of("capped", ShareSettings.EQUAL.withMaxInFlight(2))));
        capped.ask("capped", 1, 5);
        assertThat(capped.grant()).hasSize(2);
        capped.ask("other", 1, 3);
        assertThat(capped.grant()).as("others run").hasSize(3);

        capped.seconds(100);

        assertThat(capped.lagSeconds("capped")).as("nothing is charged").isZero();
        assertThat(capped.lagSeconds("other")).as("nothing is charged").isZero();
    }

    @Test
    void a_tenant_with_little_demand_earns_no_credit() {
        List<TestRequest> busy = pool.ask("busy", 1, 100);
        TestRequest little = pool.hold("little", 1);
        pool.seconds(1_000);
        pool.release(little);
        pool.ask("little", 1, 100);

        List<TestRequest> held = busy.stream().filter(TestRequest::isHolding).toList();
        List<String> next = pool.release(held.toArray(new TestRequest[0]));

        // The permit that "little" released went to one of them; of ten permits each gets five.
        assertThat(next.stream().filter("little"::equals).count()).isBetween(4L, 6L);
    }

    @Test
    void a_long_time_alone_creates_no_debt() {
        List<TestRequest> alone = pool.ask("alone", 1, 10);
        pool.grant();
        pool.seconds(1_000_000);
        pool.ask("newcomer", 1, 20);
        pool.ask("alone", 1, 20);

        assertThat(pool.release(alone.toArray(new TestRequest[0])).stream()
                        .filter("alone"::equals)
                        .count())
                .isEqualTo(5);
    }

    @Test
    void a_debt_is_not_forgotten_by_a_short_pause() {
        TestRequest held = pool.hold("ahead", 10);
        pool.ask("waits", 1, 30);
        pool.grant();
        pool.seconds(0.4);
        pool.release(held);
        pool.seconds(0.01);
        List<TestRequest> running = pool.ask("ahead", 1, 10);
        pool.grant();

        // 4 permit-seconds ahead of a tenant that has used 0.1: the virtual time is their mean.
        assertThat(pool.lagSeconds("ahead")).isEqualTo(-1.95, offset(0.001));
        assertThat(running).noneMatch(TestRequest::isHolding);
    }

    @Test
    void an_old_lag_is_bounded_within_a_few_grants() {
        TestRequest held = pool.hold("ahead", 10);
        pool.ask("ahead", 1, 30);
        List<TestRequest> waits = pool.ask("waits", 1, 100);
        pool.grant();
        pool.seconds(1_000_000);
        pool.release(held);

        // Each grant halves the excess over the bound, because the virtual time moves too.
        for (TestRequest request : waits.subList(0, 30)) {
            pool.release(request);
        }

        // Half of 10 permits for 600 s, by its weight.
        assertThat(pool.lagSeconds("ahead")).isBetween(-3_000.1, 0.0);
    }

    @Test
    void a_tie_goes_to_the_tenant_with_the_oldest_grant_and_then_to_the_oldest_tenant() {
        TestPool one = new TestPool(1, TenantShares.EQUAL);
        TestRequest first = one.hold("z", 1);
        one.ask("z", 1);
        one.ask("y", 1);
        one.ask("x", 1);

        assertThat(one.release(first))
                .as("y and x were never granted, y is known longer")
                .containsExactly("y");
    }

    @Test
    void a_release_does_not_change_which_grant_is_the_oldest() {
        TestPool one = new TestPool(
                1,
                TenantShares.EQUAL
                        .withMember(TenantId.of("known-first"), ShareSettings.EQUAL)
                        .withMember(TenantId.of("known-second"), ShareSettings.EQUAL));
        one.release(one.hold("known-second", 1));
        one.release(one.hold("known-first", 1));
        TestRequest other = one.hold("other", 1);
        one.ask("known-first", 1);
        one.ask("known-second", 1);

        assertThat(one.release(other)).containsExactly("known-second");
    }

    @Test
    void a_guarantee_is_served_first_and_lent_while_it_is_unused() {
        TestPool promised = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(4, 0))));
        List<TestRequest> others = promised.ask("other", 1, 30);
        assertThat(promised.grant()).as("all permits are lent").hasSize(10);
        promised.ask("gold", 1, 6);
        promised.seconds(50);
        promised.grant();

        for (int i = 0; i < 4; i++) {
            assertThat(promised.release(others.get(i))).containsExactly("gold");
        }
    }

    @Test
    void among_guarantees_the_one_used_least_is_first() {
        TestPool promised = new TestPool(
                10, TestPool.shares(Map.of("four", TestPool.guaranteed(4, 0), "two", TestPool.guaranteed(2, 0))));
        promised.hold("two", 1);
        promised.hold("four", 1);
        promised.ask("two", 1, 3);
        promised.ask("four", 1, 3);

        assertThat(promised.grant()).as("a quarter before a half").startsWith("four", "two", "four");
    }

    @Test
    void reserved_permits_stay_free_and_are_granted_to_their_tenant_at_once() {
        TestPool reserving = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(4, 3))));
        reserving.ask("other", 1, 30);
        assertThat(reserving.grant()).as("three stay free").hasSize(7);
        reserving.ask("gold", 1, 3);

        assertThat(reserving.grant()).containsExactly("gold", "gold", "gold");
    }

    @Test
    void a_request_within_its_reservation_is_granted_during_a_collection() {
        TestPool reserving = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(2, 2))));
        List<TestRequest> small = reserving.ask("small", 1, 8);
        reserving.grant();
        reserving.ask("large", 6);
        reserving.release(small.get(0));
        assertThat(reserving.collecting()).isEqualTo(6);
        reserving.ask("gold", 1, 3);

        assertThat(reserving.grant()).containsExactly("gold", "gold");
    }

    @Test
    void a_guarantee_overtakes_a_collection_only_up_to_its_bound() {
        TestPool promised = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(2, 0))));
        List<TestRequest> small = promised.ask("small", 1, 10);
        promised.grant();
        promised.ask("large", 8);
        promised.release(small.get(0));
        TestRequest first = promised.hold("gold", 1);
        promised.release(first);
        TestRequest second = promised.hold("gold", 1);
        promised.release(second);
        TestRequest third = promised.ask("gold", 1);

        assertThat(promised.grant()).as("a third pass").isEmpty();
        assertThat(third.isWaiting()).isTrue();
        assertThat(promised.release(small.subList(1, 8).toArray(new TestRequest[0])))
                .startsWith("large");
    }

    @Test
    void during_a_collection_a_guarantee_that_does_not_fit_gives_way_to_another() {
        TestPool promised = new TestPool(
                10, TestPool.shares(Map.of("gold", TestPool.guaranteed(4, 0), "silver", TestPool.guaranteed(2, 0))));
        promised.hold("silver", 1);
        List<TestRequest> small = promised.ask("small", 1, 9);
        promised.grant();
        promised.ask("large", 8);
        promised.release(small.get(0));
        assertThat(promised.collecting()).isEqualTo(8);
        promised.ask("gold", 3);
        promised.ask("silver", 1);

        assertThat(promised.grant()).as("gold would be first, but needs three").containsExactly("silver");
    }

    @Test
    void reserved_permits_do_not_count_as_overtaking_a_collection() {
        TestPool promised = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(2, 1))));
        List<TestRequest> small = promised.ask("small", 1, 9);
        promised.grant();
        promised.ask("large", 8);
        promised.release(small.get(0));
        assertThat(promised.collecting()).isEqualTo(8);
        promised.hold("gold", 1);
        TestRequest first = promised.hold("gold", 1);
        promised.release(first);
        TestRequest second = promised.hold("gold", 1);
        promised.release(second);
        promised.ask("gold", 1);

        assertThat(promised.grant()).as("a third pass").isEmpty();
    }

    @Test
    void beyond_the_queue_bound_the_longest_queue_is_cut() {
        pool.hold("a", 10);
        List<TestRequest> flood = pool.ask("flood", 1, 50);
        TestRequest modest = pool.ask("modest", 1);

        assertThat(pool.scheduler.overPoolBound(51)).isNull();
        assertThat(pool.scheduler.overPoolBound(50)).isSameAs(flood.get(49));
        assertThat(modest.isWaiting()).isTrue();
    }

    @Test
    void the_length_of_a_queue_is_compared_per_weight() {
        TestPool weighted = new TestPool(1, TestPool.shares(Map.of("heavy", ShareSettings.ofWeight(10))));
        weighted.hold("heavy", 1);
        weighted.ask("heavy", 1, 20);
        List<TestRequest> light = weighted.ask("light", 1, 3);

        assertThat(weighted.scheduler.overPoolBound(22)).isSameAs(light.get(2));
    }

    @Test
    void beyond_the_bound_of_a_tenant_its_newest_request_is_refused() {
        TestPool bounded = new TestPool(1, TestPool.shares(Map.of("a", ShareSettings.EQUAL.withMaxWaiting(2))));
        bounded.hold("a", 1);
        List<TestRequest> waiting = bounded.ask("a", 1, 3);

        assertThat(bounded.scheduler.overOwnBound(waiting.get(0))).isSameAs(waiting.get(2));
        bounded.cancel(waiting.get(2));
        assertThat(bounded.scheduler.overOwnBound(waiting.get(0))).isNull();
    }

    @Test
    void a_calculator_fixes_the_share_of_each_tenant_and_the_rest_stays_idle() {
        TestPool fixed = new TestPool(10, TenantShares.EQUAL.withCalculator((permits, active) -> permits / active));
        List<TestRequest> first = fixed.ask("a", 1, 10);
        fixed.grant();
        fixed.ask("a", 1, 10);
        fixed.ask("b", 1, 10);
        assertThat(fixed.grant()).as("all permits are held").isEmpty();

        assertThat(fixed.release(first.subList(0, 6).toArray(TestRequest[]::new)))
                .as("a holds 4 and may hold 5")
                .containsOnly("b", "a")
                .hasSize(6);
        assertThat(fixed.status("a").inFlight()).isEqualTo(5);
        assertThat(fixed.status("b").inFlight()).isEqualTo(5);

        fixed.ask("c", 1, 10);
        assertThat(fixed.grant()).isEmpty();
        assertThat(fixed.release(first.get(6), first.get(7)))
                .as("a holds 3 of the 3 that each may have of 10")
                .containsExactly("c", "c");
        assertThat(fixed.release(first.get(8)))
                .as("a may hold one more, and c as well")
                .hasSize(1);
    }

    @Test
    void a_request_beyond_the_calculated_cap_of_a_tenant_alone_can_never_be_granted() {
        TestPool half = new TestPool(
                10, TenantShares.EQUAL.withCalculator((permits, active) -> Math.max(1, permits / (active + 1))));
        assertThat(half.scheduler.canEverFit(TenantId.of("a"), 5)).isTrue();
        assertThat(half.scheduler.canEverFit(TenantId.of("a"), 6)).isFalse();
    }

    @Test
    void a_calculator_is_called_in_advance_and_must_leave_each_tenant_a_permit() {
        List<Integer> asked = new ArrayList<>();
        TenantShares shares = TenantShares.EQUAL.withCalculator((permits, active) -> {
            asked.add(active);
            return 1;
        });
        TestPool counted = new TestPool(3, shares);
        asked.clear();
        counted.hold("a", 1);
        counted.ask("b", 1, 2);
        counted.grant();
        assertThat(asked).as("calls during grants").isEmpty();

        TenantShares nothing = TenantShares.EQUAL.withCalculator((permits, active) -> permits - active);
        assertThatThrownBy(() -> nothing.requireFit(3))
                .hasMessage("calculator: 0 for 3 permits and 3 active tenants (expected: >= 1)");
        shares.requireFit(5_000);
        assertThat(asked).hasSize(ShareCalculator.MOST_TENANTS);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 1.7, 0.3})
    void idle_unknown_ids_are_forgotten(double weight) {
        TestPool open = new TestPool(4, new TenantShares(Map.of(), ShareSettings.ofWeight(weight)));
        int most = 0;
        for (int i = 0; i < 20_000; i += 8) {
            List<TestRequest> requests = List.copyOf(open.ask("id" + i, 1, 4));
            for (int j = 1; j < 8; j++) {
                TestRequest other = open.ask("id" + (i + j), 1);
                open.grant();
                open.seconds(0.01);
                open.release(requests.get(j % 4).isHolding() ? requests.get(j % 4) : open.hold("busy" + i, 1));
                settleAll(open, other);
            }
            requests.forEach(request -> settleAll(open, request));
            most = Math.max(most, open.scheduler.status(0).tenants().size());
        }
        assertThat(most).isLessThan(200);
        assertThat(open.scheduler.waiting()).isZero();
        assertThat(open.scheduler.inFlight()).isZero();
    }

    private static void settleAll(TestPool pool, TestRequest request) {
        if (request.isWaiting()) {
            pool.cancel(request);
        } else if (request.isHolding()) {
            pool.release(request);
        }
    }

    @Test
    void a_clock_that_goes_back_stands_still() {
        pool.hold("a", 10);
        pool.ask("a", 1);
        pool.ask("b", 1);
        pool.grant();
        pool.seconds(5);
        double lag = pool.lagSeconds("b");
        Duration held = pool.status("a").held();
        assertThat(held).hasSeconds(50);
        pool.seconds(-4);

        assertThat(pool.lagSeconds("b")).isEqualTo(lag);
        assertThat(pool.status("a").held()).isEqualTo(held);
        pool.seconds(4);
        assertThat(pool.lagSeconds("b")).isEqualTo(lag);
    }

    @Test
    void the_account_of_a_large_contended_pool_does_not_overflow() {
        TestPool large = new TestPool(1_000_000, TenantShares.EQUAL, TestPool.NEVER_FORGETS);
        large.hold("a", 1_000_000);
        large.ask("b", 1);
        large.grant();
        double ahead = 0;
        for (int i = 0; i < 1_000; i++) {
            large.seconds(600);
            assertThat(large.lagSeconds("a")).isLessThan(-ahead);
            // The memory holds a billion permit-seconds.
            ahead = Math.min(ahead + 599e6, 1e9);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"of old", "by a change", "by its part", "unknown"})
    void the_virtual_time_does_not_overflow_when_the_heaviest_tenant_joins(String heaviest) {
        ShareSettings heavy = ShareSettings.ofWeight(ShareSettings.MAX_WEIGHT);
        TenantShares light = TenantShares.EQUAL.withMember(TenantId.of("light"), ShareSettings.ofWeight(0.001));
        TenantShares before = switch (heaviest) {
            case "of old", "by its part" -> light.withMember(TenantId.of("heavy"), heavy);
            case "by a change" -> light.withMember(TenantId.of("heavy"), ShareSettings.ofWeight(0.001));
            default -> new TenantShares(light.members(), heavy);
        };
        TestPool one = new TestPool(1, before, TestPool.NEVER_FORGETS);
        if (heaviest.equals("by a change")) {
            one.reconfigure(before.withMember(TenantId.of("heavy"), heavy));
        }
        if (heaviest.equals("by its part")) {
            one.scheduler.weigh(Map.of(TenantId.of("heavy"), 0.001), Map.of(), one.now());
            one.reconfigure(before);
            one.scheduler.weigh(Map.of(), Map.of(), one.now());
        }
        one.hold("light", 1);
        one.ask("light", 1);
        one.grant();
        one.seconds(1_000);
        one.ask("heavy", 1);
        one.grant();

        assertThat(one.lagSeconds("heavy")).isEqualTo(0, offset(1e-3));
        assertThat(one.lagSeconds("light")).isEqualTo(0, offset(1e-3));
    }

    @Test
    void a_second_release_fails_loudly() {
        TestRequest request = pool.hold("a", 1);
        pool.release(request);

        assertThatIllegalStateException().isThrownBy(() -> pool.release(request));
        assertThatIllegalStateException().isThrownBy(() -> pool.cancel(request));
    }

    @Test
    void a_request_enqueued_twice_or_while_permits_are_lent_fails_loudly() {
        TestRequest waiting = pool.ask("a", 1);
        assertThatIllegalStateException().isThrownBy(() -> pool.scheduler.enqueue(waiting, pool.now()));
        assertThatIllegalStateException().isThrownBy(() -> pool.scheduler.countTaken(waiting, 0, pool.now()));
        pool.cancel(waiting);

        assertThat(pool.scheduler.moveToSlots(3)).isEqualTo(3);
        assertThatIllegalStateException()
                .isThrownBy(() -> pool.ask("a", 1))
                .withMessage("3 permits are in slots (expected: 0)");
        assertThatIllegalStateException().isThrownBy(() -> pool.resize(20));
        assertThatIllegalStateException().isThrownBy(() -> pool.reconfigure(TenantShares.EQUAL));
        assertThat(pool.scheduler.permits()).isEqualTo(10);
    }

    @Test
    void no_more_permits_are_lent_than_are_free() {
        pool.hold("a", 4);
        assertThat(pool.scheduler.moveToSlots(10)).isEqualTo(6);
        assertThat(pool.scheduler.moveToSlots(1)).isZero();
    }

    @Test
    void all_permits_are_accounted_for_also_those_that_are_reserved() {
        TestPool reserving = new TestPool(
                10,
                TenantShares.EQUAL
                        .withMember(TenantId.of("idle"), ShareSettings.EQUAL.withGuaranteed(3, 3))
                        .withMember(TenantId.of("half"), ShareSettings.EQUAL.withGuaranteed(2, 2)));
        reserving.hold("half", 1);
        reserving.hold("other", 4);
        PoolStatus status = reserving.scheduler.present(reserving.now());
        assertThat(status.accounted()).isEqualTo(10);
        assertThat(status.free()).isEqualTo(5);
    }

    @Test
    void a_permit_that_comes_back_too_rarely_or_too_often_is_not_accounted_for() {
        pool.hold("a", 4);
        TestRequest large = pool.ask("b", 8);
        assertAccounted(10, 6);
        pool.cancel(large);
        pool.resize(3);
        assertAccounted(3, -1);
        pool.resize(10);

        pool.scheduler.moveToSlots(3);
        pool.scheduler.moveFromSlots(2);
        assertAccounted(9, 5);
        pool.scheduler.moveFromSlots(2);
        assertAccounted(11, 7);
        pool.scheduler.moveToSlots(1);

        pool.scheduler.walks.top.occupied += 3;
        assertAccounted(7, 3);
    }

    private void assertAccounted(int permits, int free) {
        PoolStatus status = pool.scheduler.present(pool.now());
        assertThat(status.accounted()).isEqualTo(permits);
        assertThat(status.free()).isEqualTo(free);
    }

    @Test
    void permits_taken_from_slots_count_as_grants_in_the_order_in_which_they_are_counted() {
        TestPool open = new TestPool(
                4,
                TenantShares.EQUAL
                        .withMember(TenantId.of("last"), ShareSettings.EQUAL)
                        .withMember(TenantId.of("longest-ago"), ShareSettings.EQUAL));
        assertThat(open.scheduler.moveToSlots(2)).isEqualTo(2);
        open.scheduler.countTaken(TestRequest.of("longest-ago", 1), 0, open.now());
        open.scheduler.countTaken(TestRequest.of("last", 1), 0, open.now());
        open.hold("full", 2);
        open.ask("last", 1);
        open.ask("longest-ago", 1);

        assertThat(open.resize(5)).containsExactly("longest-ago");
    }

    @Test
    void a_request_of_an_unknown_tenant_fits_only_beside_the_reservations() {
        TestPool reserving = new TestPool(10, TestPool.shares(Map.of("gold", TestPool.guaranteed(3, 3))));
        assertThat(reserving.scheduler.canEverFit(TenantId.of("stranger"), 7)).isTrue();
        assertThat(reserving.scheduler.canEverFit(TenantId.of("stranger"), 8)).isFalse();
    }

    @Test
    void among_equal_queues_that_of_the_oldest_tenant_is_cut() {
        TestPool weighted = new TestPool(
                1, TestPool.shares(Map.of("four", ShareSettings.ofWeight(4), "two", ShareSettings.ofWeight(2))));
        weighted.hold("other", 1);
        List<TestRequest> four = weighted.ask("four", 1, 9);
        List<TestRequest> two = weighted.ask("two", 1, 4);
        assertThat(weighted.scheduler.overPoolBound(12)).as("9/4 and 4/2").isSameAs(four.get(8));
        weighted.cancel(two.get(3));
        weighted.ask("two", 1, 2);
        assertThat(weighted.scheduler.overPoolBound(12)).as("9/4 and 5/2").isNotIn(four);

        List<TestRequest> known = pool.ask("known", 11, 2);
        pool.ask("new", 11, 2);
        assertThat(pool.scheduler.overPoolBound(3)).isSameAs(known.get(1));
    }

    @Test
    void a_removed_reservation_gives_no_priority() {
        TenantShares equal = TenantShares.EQUAL
                .withMember(TenantId.of("other"), ShareSettings.EQUAL)
                .withMember(TenantId.of("gold"), ShareSettings.EQUAL);
        TestPool reserving = new TestPool(1, equal.withMember(TenantId.of("gold"), TestPool.guaranteed(1, 1)));
        reserving.ask("gold", 1);
        reserving.ask("other", 1);

        assertThat(reserving.reconfigure(equal)).as("known longest").containsExactly("other");
    }

    @Test
    void a_removed_tenant_is_forgotten_when_it_has_released_its_permits() {
        TestPool configured = new TestPool(2, TestPool.shares(Map.of("gone", TestPool.guaranteed(2, 2))));
        TestRequest request = configured.hold("gone", 2);
        configured.ask("other", 2);
        configured.grant();

        assertThat(configured.reconfigure(TenantShares.EQUAL)).isEmpty();
        assertThat(configured.release(request)).containsExactly("other");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "P366D"})
    void a_memory_of_zero_or_over_a_year_is_refused(Duration memory) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FairnessSettings.USUAL.withMemory(memory))
                .withMessageStartingWith("memory: ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FairnessSettings.USUAL.withMaxCollect(memory))
                .withMessageStartingWith("max-collect: ");
    }

    @Test
    void a_negative_gain_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new FairScheduler(1, TenantShares.EQUAL, FairnessSettings.USUAL, Duration.ofNanos(-1), 0))
                .withMessage("gain: PT-0.000000001S (expected: 0 or more)");
    }
}
