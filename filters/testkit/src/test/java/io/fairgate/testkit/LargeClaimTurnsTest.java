package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.ShareGroups.Group;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A large request whose permits do not come back, because somebody holds one of them for long, takes turns with whoever
 * else waits. A turn is three seconds here.
 *
 * <p>Over 250 lines because it is one list of cases.
 */
class LargeClaimTurnsTest {

    private static final long NEVER = Long.MAX_VALUE;

    private final TestPool pool = new TestPool(4, TenantShares.EQUAL);
    private final TestClaim held = pool.hold("holder", 1);

    private long secondsToNextTurn() {
        long next = pool.scheduler.nextTurn();
        return next == NEVER ? NEVER : (next - pool.now()) / 1_000_000_000;
    }

    @Test
    void others_get_what_has_collected_after_a_turn() {
        pool.ask("large", 4);
        pool.ask("small", 1, 8);
        assertThat(pool.grant()).isEmpty();
        assertThat(secondsToNextTurn()).isEqualTo(3);
        pool.seconds(2.999);
        assertThat(pool.grant()).isEmpty();
        assertThat(pool.pinned()).isEqualTo(4);

        pool.seconds(0.001);

        assertThat(pool.grant()).containsExactly("small", "small", "small");
        assertThat(pool.pinned()).isZero();
    }

    @Test
    void and_what_comes_back_for_as_long_until_permits_collect_again() {
        pool.ask("large", 4);
        TestClaim[] small = pool.ask("small", 1, 8).toArray(new TestClaim[0]);
        pool.grant();
        pool.seconds(3);
        pool.grant();
        pool.seconds(2.999);
        assertThat(pool.release(small[0])).containsExactly("small");
        assertThat(secondsToNextTurn()).isZero();

        pool.seconds(0.001);

        assertThat(pool.release(small[1])).isEmpty();
        assertThat(pool.pinned()).isEqualTo(4);
        assertThat(secondsToNextTurn()).isEqualTo(3);
    }

    @Test
    void while_nobody_else_waits_permits_collect_without_an_end() {
        pool.ask("large", 4);
        pool.grant();
        pool.seconds(1_000);
        assertThat(pool.grant()).isEmpty();
        assertThat(pool.scheduler.nextTurn()).isEqualTo(NEVER);
        assertThat(pool.pinned()).isEqualTo(4);

        pool.ask("small", 1);

        assertThat(pool.grant()).isEmpty();
        assertThat(secondsToNextTurn()).isEqualTo(3);
    }

    @Test
    void a_tenant_alone_keeps_its_order() {
        pool.ask("holder", 4);
        pool.ask("holder", 1, 3);
        pool.grant();
        pool.seconds(1_000);

        assertThat(pool.grant()).isEmpty();
        assertThat(pool.release(held)).containsExactly("holder");
    }

    @Test
    void who_is_granted_within_its_turn_has_not_used_it() {
        TestClaim large = pool.ask("large", 4);
        pool.ask("small", 1, 2);
        pool.grant();
        pool.seconds(2.5);
        assertThat(pool.release(held)).containsExactly("large");
        pool.ask("large", 4);

        assertThat(pool.release(large)).containsExactly("small");
        assertThat(pool.pinned()).isEqualTo(4);
    }

    @Test
    void who_leaves_while_permits_collect_has_had_that_turn() {
        TestClaim large = pool.ask("large", 4);
        pool.ask("small", 1, 2);
        pool.grant();
        pool.seconds(2);
        assertThat(pool.cancel(large)).containsExactly("small", "small");
        pool.ask("large", 4);
        pool.ask("other", 1, 2);
        assertThat(pool.grant()).containsExactly("other");
        assertThat(pool.pinned()).isZero();
    }

    @Test
    void who_is_aside_is_granted_at_once_when_it_fits_and_nobody_else_waits() {
        pool.ask("large", 4);
        TestClaim small = pool.ask("small", 1);
        pool.grant();
        pool.seconds(3);
        assertThat(pool.grant()).containsExactly("small");
        assertThat(pool.release(held)).isEmpty();

        assertThat(pool.release(small)).containsExactly("large");
    }

    @Test
    void who_does_not_fit_beside_its_own_collects_no_more_until_that_comes_back() {
        pool.ask("holder", 4);
        List<TestClaim> small = pool.ask("small", 1, 100);
        assertThat(pool.grant()).containsExactly("small");
        pool.seconds(3);
        assertThat(pool.grant()).containsExactly("small", "small");
        for (int i = 0; i < 90; i++) {
            pool.seconds(1);
            assertThat(pool.release(small.get(i))).containsExactly("small");
        }

        assertThat(pool.release(held)).isEmpty();
        assertThat(pool.pinned()).isEqualTo(4);
    }

    @Test
    void permits_collect_next_for_another_large_one() {
        List<TestClaim> small = pool.ask("small", 1, 5);
        pool.grant();
        pool.ask("all", 4);
        pool.ask("some", 3);
        assertThat(pool.release(small.get(0))).isEmpty();
        assertThat(pool.pinned()).isEqualTo(4);
        pool.seconds(3);
        assertThat(pool.grant()).as("in the turn of others").containsExactly("small");
        pool.seconds(3);

        assertThat(pool.release(small.get(1))).isEmpty();
        assertThat(pool.pinned()).isEqualTo(3);
        assertThat(pool.release(small.get(2), small.get(3))).containsExactly("some");
    }

    @Test
    void permits_collect_without_an_end_for_what_is_guaranteed() {
        TestPool promised = new TestPool(4, TestPool.shares(Map.of("large", TestPool.guaranteed(4, 0))));
        TestClaim held = promised.hold("holder", 1);
        promised.ask("large", 4);
        promised.ask("small", 1, 8);
        promised.grant();
        promised.seconds(1_000);

        assertThat(promised.grant()).isEmpty();
        assertThat(promised.scheduler.nextTurn()).isEqualTo(NEVER);
        assertThat(promised.release(held)).containsExactly("large");
    }

    @Test
    void large_ones_get_their_share_beside_small_ones_that_last_for_minutes() {
        Holds holds = Holds.exponential(Duration.ofMinutes(10));
        Duration length = Duration.ofDays(10);
        EventLog log = Simulation.run(Workload.of(
                10, TenantShares.EQUAL, length, 1, Load.of("a", 20, holds).asking(8), Load.of("b", 30, holds)));

        assertThat(log.share(0, Duration.ZERO, length)).isBetween(0.48, 0.52);
    }

    @Test
    void within_the_cap_of_a_group_its_tenants_take_turns() {
        TestPool wide = grouped("holder", "large", "small");
        wide.hold("holder", 1);
        wide.ask("large", 4);
        wide.ask("small", 1, 8);
        assertThat(wide.grant()).isEmpty();

        wide.seconds(3);
        assertThat(wide.grant()).containsExactly("small", "small", "small");
    }

    @Test
    void in_the_turn_of_others_nothing_collects_in_a_group_either() {
        TestPool wide = grouped("holder", "large", "medium", "small");
        wide.hold("holder", 1);
        wide.ask("large", 4);
        wide.ask("medium", 2, 3);
        wide.grant();
        wide.seconds(3);
        assertThat(wide.grant()).as("the next does not fit").containsExactly("medium");

        wide.ask("small", 1);
        assertThat(wide.grant()).containsExactly("small");
    }

    /** One tenant of a group leaves just before its turn is over, and another of the group asks. */
    @Test
    void tenants_of_one_group_have_one_turn_between_others_and_not_one_each() {
        TenantShares shares = TenantShares.EQUAL.withGroup("group", Group.of(ShareSettings.EQUAL));
        for (String tenant : List.of("one", "other")) {
            shares = shares.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "group");
        }
        assertThat(collectedAfterwards(shares, TestClaim.of("one", 4), TestClaim.of("other", 4)))
                .isEqualTo(3);
    }

    @Test
    void classes_of_one_tenant_have_one_turn_between_others_and_not_one_each() {
        TenantShares shares = TenantShares.EQUAL
                .withMember(TenantId.of("one"), ShareSettings.EQUAL)
                .withClass("x", ShareSettings.EQUAL)
                .withClass("y", ShareSettings.EQUAL);
        assertThat(collectedAfterwards(shares, TestClaim.of("one", "x", 4), TestClaim.of("one", "y", 4)))
                .isEqualTo(3);
    }

    /** What the next claim wants that permits collect for; an honest tenant wants three of four. */
    private static int collectedAfterwards(TenantShares shares, TestClaim first, TestClaim second) {
        TestPool pool = new TestPool(4, shares);
        pool.hold("holder", 1);
        List<TestClaim> small = pool.ask("small", 1, 9);
        pool.grant();
        pool.scheduler.enqueue(first, pool.now());
        pool.ask("honest", 3);
        pool.release(small.get(0));
        assertThat(pool.pinned()).isEqualTo(4);
        pool.seconds(2.9);
        pool.scheduler.enqueue(second, pool.now());
        assertThat(pool.cancel(first)).containsExactly("small");
        pool.seconds(2.9);
        assertThat(pool.release(small.get(1))).isEmpty();
        return pool.pinned();
    }

    @Test
    void a_class_that_does_not_fit_beside_another_of_its_tenant_collects_no_more_until_that_gives_back() {
        TestPool classes = new TestPool(
                4, TenantShares.EQUAL.withClass("x", ShareSettings.EQUAL).withClass("y", ShareSettings.EQUAL));
        TestClaim x = TestClaim.of("one", "x", 1);
        classes.scheduler.enqueue(x, classes.now());
        classes.grant();
        classes.scheduler.enqueue(TestClaim.of("one", "y", 4), classes.now());
        List<TestClaim> small = classes.ask("small", 1, 40);
        classes.grant();
        classes.seconds(3);
        classes.grant();
        for (int i = 0; i < 30; i++) {
            classes.seconds(1);
            assertThat(classes.release(small.get(i))).containsExactly("small");
        }

        assertThat(classes.release(x)).isEmpty();
        assertThat(classes.pinned()).isEqualTo(4);
    }

    @Test
    void what_is_guaranteed_collects_in_the_turn_of_others_as_well() {
        TestPool promised = new TestPool(4, TestPool.shares(Map.of("gold", TestPool.guaranteed(2, 0))));
        promised.hold("holder", 1);
        promised.ask("large", 4);
        List<TestClaim> small = promised.ask("small", 1, 8);
        promised.grant();
        promised.seconds(3);
        promised.grant();
        promised.ask("gold", 2);

        assertThat(promised.release(small.get(0))).isEmpty();
        assertThat(promised.release(small.get(1))).containsExactly("gold");
    }

    @Test
    void who_is_aside_is_granted_what_a_neighbour_gives_back_of_a_reservation_that_they_share() {
        TenantShares shares = TenantShares.EQUAL.withGroup(
                "group", Group.of(ShareSettings.ofWeight(10).withGuaranteed(2, 2)));
        for (String tenant : List.of("a", "b")) {
            shares = shares.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "group");
        }
        TestPool reserving = new TestPool(6, shares);
        TestClaim reserved = reserving.hold("b", 2);
        reserving.hold("holder", 1);
        reserving.ask("large", 4);
        List<TestClaim> small = reserving.ask("small", 1, 8);
        reserving.grant();
        reserving.seconds(3);
        reserving.grant();
        reserving.ask("a", 2);
        assertThat(reserving.release(small.get(0))).as("a steps aside").containsExactly("small");

        assertThat(reserving.release(reserved)).containsExactly("a");
    }

    /** All of them in one group that may hold 4 of 10 permits. */
    private static TestPool grouped(String... tenants) {
        TenantShares grouped = TenantShares.EQUAL.withGroup("group", Group.of(ShareSettings.EQUAL.withMaxInFlight(4)));
        for (String tenant : tenants) {
            grouped = grouped.withMember(TenantId.of(tenant), ShareSettings.EQUAL, "group");
        }
        return new TestPool(10, grouped);
    }
}
