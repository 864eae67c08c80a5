package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A scheduler that may grant only some of the permits, and in which only a part of the weights counts. */
class PartOfAPoolTest {

    private static final Offset<Double> EXACT = offset(1e-6);

    private static TestPool pool(int permits) {
        return new TestPool(permits, TenantShares.EQUAL, TestPool.NEVER_FORGETS);
    }

    private static void limit(TestPool pool, int most) {
        limit(pool, most, 0);
    }

    private static void limit(TestPool pool, int most, int leased) {
        pool.scheduler.limit(most, leased, pool.now());
    }

    private static AskedPermits asked(TestPool pool) {
        return pool.scheduler.asked(pool.now());
    }

    private static void weigh(TestPool pool, Map<String, Double> parts) {
        Map<TenantId, Double> tenants = new LinkedHashMap<>();
        parts.forEach((tenant, part) -> tenants.put(TenantId.of(tenant), part));
        pool.scheduler.weigh(tenants, Map.of(), pool.now());
    }

    // ---- the limit ----

    @Test
    void no_more_than_the_limit_is_granted() {
        TestPool pool = pool(10);
        limit(pool, 3);
        pool.ask("a", 1, 20);
        assertThat(pool.grant()).hasSize(3);
        limit(pool, 5);
        assertThat(pool.grant()).hasSize(2);
        limit(pool, Integer.MAX_VALUE);
        assertThat(pool.grant()).hasSize(5);
    }

    @Test
    void a_limit_above_the_size_changes_nothing() {
        TestPool pool = pool(2);
        limit(pool, 5);
        pool.ask("a", 1, 5);
        assertThat(pool.grant()).hasSize(2);
    }

    @Test
    void below_what_is_in_flight_nothing_is_granted_until_enough_is_released() {
        TestPool pool = pool(4);
        List<TestRequest> held = pool.ask("a", 1, 4);
        pool.grant();
        TestRequest next = pool.ask("b", 1);
        limit(pool, 2);
        assertThat(pool.release(held.get(0))).isEmpty();
        assertThat(pool.release(held.get(1))).isEmpty();
        assertThat(pool.release(held.get(2))).containsExactly("b");
        assertThat(next.isHolding()).isTrue();
    }

    @Test
    void a_limit_of_nothing_is_a_limit() {
        TestPool pool = pool(4);
        limit(pool, 0);
        pool.ask("a", 1);
        pool.seconds(1);
        assertThat(pool.grant()).isEmpty();
        limit(pool, 1);
        assertThat(pool.grant()).containsExactly("a");
    }

    @Test
    void what_fits_into_the_pool_may_wait_for_a_larger_limit() {
        TestPool pool = pool(8);
        limit(pool, 2);
        assertThat(pool.scheduler.canEverFit(TenantId.of("a"), 8)).isTrue();
        pool.ask("a", 5);
        assertThat(pool.grant()).isEmpty();
        limit(pool, 5);
        assertThat(pool.grant()).containsExactly("a");
    }

    @Test
    void a_collection_goes_on_when_the_limit_changes() {
        TestPool pool = pool(8);
        limit(pool, 5);
        TestRequest held = pool.hold("a", 2);
        pool.ask("b", 4);
        pool.ask("c", 1, 3);
        pool.grant();
        assertThat(pool.collecting()).isEqualTo(4);
        pool.seconds(0.001);
        limit(pool, 4);
        assertThat(pool.grant()).as("not given to the small requests").isEmpty();
        assertThat(pool.collecting()).isEqualTo(4);
        limit(pool, 6);
        assertThat(pool.grant()).containsExactly("b");
        pool.release(held);
    }

    @Test
    void a_collection_ends_when_the_limit_becomes_too_low_for_the_request() {
        TestPool pool = pool(8);
        limit(pool, 4);
        TestRequest held = pool.hold("a", 2);
        TestRequest large = pool.ask("b", 4);
        pool.ask("c", 1, 3);
        pool.grant();
        assertThat(pool.collecting()).isEqualTo(4);
        pool.seconds(0.001);
        limit(pool, 3);
        assertThat(pool.grant()).as("the small requests").containsExactly("c");
        assertThat(pool.collecting()).isZero();
        assertThat(pool.release(held)).containsExactly("c", "c");
        limit(pool, 7);
        assertThat(pool.grant()).containsExactly("b");
        assertThat(large.isHolding()).isTrue();
    }

    @Test
    void nothing_is_collected_for_a_request_that_is_larger_than_the_limit() {
        TestPool pool = pool(8);
        limit(pool, 3);
        pool.ask("b", 4);
        pool.ask("c", 1, 3);
        assertThat(pool.grant()).containsExactly("c", "c", "c");
        limit(pool, 5);
        assertThat(pool.grant()).isEmpty();
        assertThat(pool.collecting()).as("within the limit it competes").isEqualTo(4);
    }

    @Test
    void a_request_that_is_larger_than_the_limit_pays_for_nothing_while_it_waits() {
        TestPool pool = pool(4);
        limit(pool, 3);
        pool.ask("b", 4);
        TestRequest held = pool.hold("c", 1);
        pool.ask("c", 1, 30);
        pool.grant();
        for (int i = 0; i < 20; i++) {
            pool.seconds(1);
            held = pool.releaseForNext(held);
        }
        assertThat(pool.lagSeconds("b")).isGreaterThanOrEqualTo(0);
    }

    @Test
    void a_request_does_not_fit_beside_leased_permits() {
        TestPool pool = pool(8);
        TestRequest leased = pool.hold("a", 4);
        limit(pool, 6, 4);
        pool.ask("b", 3);
        pool.ask("c", 1, 2);
        assertThat(pool.grant()).containsExactly("c", "c");
        assertThat(asked(pool).largest()).isEqualTo(3);
        assertThat(asked(pool).behindLarge()).containsOnly(Map.entry(TenantId.of("b"), 3.0));
        limit(pool, 2, 0);
        pool.release(leased);
        assertThat(pool.grant()).isEmpty();
        limit(pool, 5, 0);
        assertThat(pool.grant()).containsExactly("b");
    }

    @Test
    void in_a_group_with_a_cap_nothing_is_collected_for_a_request_that_is_larger_than_the_limit() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL.withMaxInFlight(10)))
                .withMember(TenantId.of("a"), ShareSettings.EQUAL, "acme")
                .withMember(TenantId.of("b"), ShareSettings.EQUAL, "acme");
        TestPool pool = new TestPool(20, shares, TestPool.NEVER_FORGETS);
        limit(pool, 6);
        TestRequest held = pool.hold("b", 3);
        pool.ask("a", 8);
        pool.ask("b", 1, 9);
        assertThat(pool.grant()).containsExactly("b", "b", "b");
        assertThat(pool.release(held)).containsExactly("b", "b", "b");
        assertThat(asked(pool).largest())
                .as("also while the cap leaves no room for it")
                .isEqualTo(8);
        assertThat(asked(pool).behindLarge()).containsOnly(Map.entry(TenantId.of("a"), 8.0));
        limit(pool, 7);
        assertThat(pool.grant()).containsExactly("b");
    }

    @Test
    void the_largest_request_is_the_one_that_the_pool_could_grant_next() {
        TestPool pool = new TestPool(
                8, TestPool.shares(Map.of("a", ShareSettings.EQUAL.withMaxInFlight(6))), TestPool.NEVER_FORGETS);
        limit(pool, 3);
        assertThat(asked(pool).largest()).isZero();
        pool.hold("a", 1);
        pool.ask("a", 6);
        pool.ask("b", 2);
        pool.ask("b", 7);
        pool.ask("c", 5);
        pool.ask("c", 1);
        assertThat(asked(pool).largest())
                .as("a waits for its cap, and 7 is not the next of b")
                .isEqualTo(5);
        assertThat(asked(pool).behindLarge()).containsOnly(Map.entry(TenantId.of("c"), 6.0));
        assertThat(pool.grant()).containsExactly("b");
        assertThat(asked(pool).largest()).isEqualTo(7);
        limit(pool, 8);
        assertThat(asked(pool).largest()).as("also within the limit").isEqualTo(7);
        assertThat(asked(pool).behindLarge()).isEmpty();
    }

    @Test
    void a_request_is_not_the_largest_while_permits_that_it_needs_do_not_come_back() {
        TestPool pool = new TestPool(
                8, TenantShares.EQUAL, new FairnessSettings(FairnessSettings.UNBOUNDED, Duration.ofSeconds(5)));
        TestRequest held = pool.hold("a", 1);
        pool.ask("b", 8);
        pool.ask("c", 1);
        pool.grant();
        assertThat(asked(pool).largest()).isEqualTo(8);
        pool.seconds(6);
        assertThat(pool.grant()).as("the collection took too long").containsExactly("c");
        assertThat(asked(pool).largest()).isZero();
        limit(pool, 4);
        pool.grant();
        assertThat(asked(pool).largest()).isZero();
        pool.release(held);
        assertThat(asked(pool).largest()).isEqualTo(8);
    }

    @Test
    void a_limit_stays_when_the_pool_is_reconfigured() {
        TestPool pool = pool(8);
        limit(pool, 2);
        pool.resize(6);
        pool.ask("a", 1, 8);
        assertThat(pool.grant()).hasSize(2);
        assertThat(pool.scheduler.permits()).isEqualTo(6);
    }

    @Test
    void only_the_permits_within_the_limit_move_to_slots() {
        TestPool pool = pool(8);
        limit(pool, 3);
        assertThat(pool.scheduler.moveToSlots(8)).isEqualTo(3);
        assertThatIllegalStateException().isThrownBy(() -> limit(pool, 2));
        pool.scheduler.moveFromSlots(3);
        limit(pool, 2);
    }

    @Test
    void a_low_limit_forgives_nothing() {
        FairnessSettings minute = new FairnessSettings(Duration.ofMinutes(1), FairnessSettings.UNBOUNDED);
        TestPool pool = new TestPool(10, TenantShares.EQUAL, minute);
        List<TestRequest> held = pool.ask("a", 1, 10);
        pool.grant();
        pool.ask("a", 1, 20);
        pool.ask("b", 1, 20);
        pool.grant();
        pool.seconds(20);
        double ahead = pool.lagSeconds("a");
        assertThat(ahead).isLessThan(-90);
        limit(pool, 0);
        pool.release(held.get(0));
        assertThat(pool.lagSeconds("a")).isEqualTo(ahead, EXACT);
    }

    @Test
    void a_limit_below_what_is_reserved_grants_nothing() {
        TestPool pool =
                new TestPool(10, TestPool.shares(Map.of("a", TestPool.guaranteed(4, 4))), TestPool.NEVER_FORGETS);
        limit(pool, 3);
        pool.ask("a", 1);
        pool.ask("b", 1);
        assertThat(pool.grant()).isEmpty();
        limit(pool, 5);
        assertThat(pool.grant()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void a_negative_limit_is_refused() {
        TestPool pool = pool(8);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limit(pool, -1))
                .withMessage("limit: -1 (expected: >= 0)");
    }

    // ---- parts of weights ----

    /** One permit, which is held for a second each time; the parts of the time that the tenants have. */
    private static double partOfTime(TestPool pool, String tenant, int seconds) {
        int held = 0;
        TestRequest holding = null;
        for (int i = 0; i < seconds; i++) {
            pool.ask("a", 1);
            pool.ask("b", 1);
            holding = holding == null ? first(pool) : pool.releaseForNext(holding);
            held += holding.tenant().value().equals(tenant) ? 1 : 0;
            pool.seconds(1);
        }
        pool.scheduler.release(Objects.requireNonNull(holding), pool.now());
        return (double) held / seconds;
    }

    private static TestRequest first(TestPool pool) {
        TestRequest[] first = new TestRequest[1];
        pool.scheduler.grant(pool.now(), granted -> first[0] = (TestRequest) granted);
        return first[0];
    }

    @Test
    void a_part_of_a_weight_counts() {
        TestPool pool = pool(1);
        pool.ask("a", 1);
        pool.ask("b", 1);
        weigh(pool, Map.of("b", 0.25));
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.2, offset(0.02));
    }

    @Test
    void without_a_part_the_whole_weight_counts_again() {
        TestPool pool = pool(1);
        pool.ask("a", 1);
        pool.ask("b", 1);
        weigh(pool, Map.of("b", 0.25));
        weigh(pool, Map.of());
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.5, offset(0.02));
    }

    @Test
    void a_part_stays_when_the_settings_change() {
        TestPool pool = pool(1);
        pool.ask("a", 1);
        pool.ask("b", 1);
        weigh(pool, Map.of("b", 0.25));
        TenantShares changed = TestPool.shares(Map.of("b", ShareSettings.ofWeight(4)));
        pool.scheduler.reconfigure(1, changed, TestPool.NEVER_FORGETS, pool.now());
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.5, offset(0.02));
    }

    @Test
    void how_far_a_tenant_is_ahead_or_behind_stays() {
        TestPool pool = pool(2);
        pool.hold("a", 2);
        pool.ask("a", 1);
        pool.ask("b", 1);
        pool.ask("c", 1);
        pool.grant();
        pool.seconds(30);
        double ahead = pool.lagSeconds("a");
        double behind = pool.lagSeconds("b");
        assertThat(ahead).isLessThan(-10);
        assertThat(behind).isGreaterThan(10);

        weigh(pool, Map.of("a", 0.5, "b", 0.125));

        assertThat(pool.lagSeconds("a")).isEqualTo(ahead, EXACT);
        assertThat(pool.lagSeconds("b")).isEqualTo(behind, EXACT);
        assertThat(pool.status("b").weight()).as("what is shown").isEqualTo(1);
    }

    @Test
    void a_debt_of_an_idle_tenant_stays() {
        TestPool pool = pool(1);
        TestRequest held = pool.hold("a", 1);
        pool.ask("b", 1, 3);
        pool.grant();
        pool.seconds(30);
        pool.release(held);
        double debt = pool.lagSeconds("a");
        assertThat(debt).isLessThan(-20);
        weigh(pool, Map.of("a", 0.1));
        assertThat(pool.lagSeconds("a")).isEqualTo(debt, EXACT);
    }

    @Test
    void a_tenant_that_is_not_known_yet_has_its_whole_weight_when_it_comes() {
        TestPool pool = pool(1);
        weigh(pool, Map.of("b", 0.01));
        assertThat(partOfTime(pool, "b", 100)).isEqualTo(0.5, offset(0.02));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.5, 1.01, Double.NaN})
    void a_part_that_is_none_is_refused(double part) {
        TestPool pool = pool(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> weigh(pool, Map.of("a", part)))
                .withMessage("part of a: " + part + " (expected: > 0 and <= 1)");
        assertThatIllegalArgumentException().isThrownBy(() -> pool.scheduler.weigh(Map.of(), Map.of("acme", part), 0));
    }

    @Test
    void a_part_of_a_group_counts_for_all_in_it() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL))
                .withMember(TenantId.of("b"), ShareSettings.EQUAL, "acme");
        TestPool pool = new TestPool(1, shares, TestPool.NEVER_FORGETS);
        pool.scheduler.weigh(Map.of(), Map.of("acme", 0.25, "unknown", 0.5), pool.now());
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.2, offset(0.02));
    }

    @Test
    void a_tenant_that_is_divided_into_classes_keeps_its_part_and_its_classes_have_whole_weights() {
        TestPool pool =
                new TestPool(1, TenantShares.EQUAL.withClass("batch", ShareSettings.EQUAL), TestPool.NEVER_FORGETS);
        pool.ask("a", 1);
        pool.ask("b", 1);
        weigh(pool, Map.of("b", 0.25));
        pool.scheduler.enqueue(TestRequest.of("b", "batch", 1), pool.now());
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.2, offset(0.02));
        weigh(pool, Map.of());
        assertThat(partOfTime(pool, "b", 200)).isEqualTo(0.5, offset(0.02));
    }

    @Test
    void the_classes_of_a_tenant_have_whole_weights() {
        TestPool pool =
                new TestPool(1, TenantShares.EQUAL.withClass("batch", ShareSettings.EQUAL), TestPool.NEVER_FORGETS);
        TestRequest held = pool.hold("b", 1);
        weigh(pool, Map.of("b", 0.25));
        int batch = 0;
        for (int i = 0; i < 200; i++) {
            pool.scheduler.enqueue(TestRequest.of("b", "batch", 1), pool.now());
            pool.ask("b", 1);
            pool.grant();
            pool.seconds(1);
            held = pool.releaseForNext(held);
            batch += "batch".equals(held.requestClass()) ? 1 : 0;
        }
        assertThat(batch).isBetween(98, 102);
    }

    /** Many requests wait: of {@code a} with a guarantee and nearly no weight, and of {@code b}. */
    private static TestPool withGuarantee(int guaranteed, int permits) {
        TenantShares shares = TestPool.shares(
                Map.of("a", ShareSettings.ofWeight(0.001).withGuaranteed(guaranteed, 0), "b", ShareSettings.EQUAL));
        TestPool pool = new TestPool(permits, shares, TestPool.NEVER_FORGETS);
        pool.ask("b", 1, 40);
        pool.ask("a", 1, 40);
        return pool;
    }

    @Test
    void a_part_of_a_guarantee_counts_in_whole_permits() {
        TestPool pool = withGuarantee(5, 8);
        weigh(pool, Map.of("a", 0.7));
        List<String> granted = pool.grant();
        assertThat(granted.subList(0, 3)).containsOnly("a");
        assertThat(granted.subList(3, 8)).containsOnly("b");
        weigh(pool, Map.of("a", 0.1));
        assertThat(pool.resize(10)).containsOnly("b");
        weigh(pool, Map.of());
        assertThat(pool.resize(12)).containsOnly("a");
    }

    @Test
    void a_part_that_gives_whole_permits_is_not_rounded_down() {
        TestPool pool = withGuarantee(100, 29);
        weigh(pool, Map.of("a", 0.29));
        assertThat(pool.grant()).containsOnly("a");
    }

    @Test
    void a_part_counts_from_now_on() {
        double[] lags = new double[2];
        for (int i = 0; i < 2; i++) {
            TenantShares shares = TenantShares.EQUAL
                    .withGroup("acme", Group.of(ShareSettings.EQUAL))
                    .withMember(TenantId.of("a"), ShareSettings.EQUAL, "acme")
                    .withMember(TenantId.of("b"), ShareSettings.EQUAL, "acme");
            TestPool pool = new TestPool(2, shares, TestPool.NEVER_FORGETS);
            pool.hold("a", 2);
            pool.ask("a", 1);
            pool.ask("b", 1);
            pool.grant();
            pool.seconds(30);
            if (i == 1) {
                assertThat(pool.lagSeconds("b")).as("a look").isGreaterThan(10);
            }
            weigh(pool, Map.of("b", 0.125));
            lags[i] = pool.lagSeconds("b");
        }
        assertThat(lags[0]).isEqualTo(lags[1], EXACT);
    }
}
