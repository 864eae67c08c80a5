package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.slice.SimulatedGateways.Measured;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two gateways of one pool, and their ledger, which they cannot reach for half a minute. */
class OutageTest {

    private static final int PERMITS = 10;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Duration WHILE = Duration.ofSeconds(20);
    private static final Holds SHORT = Holds.exponential(Duration.ofMillis(50));

    private SimulatedGateways gateways = gateways(OutagePolicy.FAIL_CLOSED);

    private static SimulatedGateways gateways(OutagePolicy outages) {
        return new SimulatedGateways(PERMITS, TenantShares.EQUAL, 2, outages);
    }

    /** Both gateways have more requests than the pool has permits. */
    private void load(OutagePolicy outages) {
        gateways = gateways(outages);
        gateways.connect("a", 0, 20, SHORT);
        gateways.connect("b", 1, 20, SHORT);
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
    }

    private void lose() {
        gateways.cutOff(0);
        gateways.cutOff(1);
    }

    private void regain(boolean isEmpty) {
        if (isEmpty) {
            gateways.flushLedger();
        }
        gateways.connect(0);
        gateways.connect(1);
    }

    /** The part of the pool that is in use. */
    private double used(Duration before, Duration time) {
        Measured measured = gateways.measure(before, time);
        assertThat(measured.mostInUse()).as("in use").isEqualTo(PERMITS);
        return measured.utilization();
    }

    @Test
    void fail_closed_refuses_all_requests() {
        load(OutagePolicy.FAIL_CLOSED);
        lose();
        assertThat(used(SOON, WHILE)).isZero();
        assertThat(gateways.unavailable()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_reserve_is_used_before_an_outage_during_it_and_after_it_and_no_request_is_refused(boolean isEmpty) {
        load(OutagePolicy.reserve(2, 0.4));
        lose();
        assertThat(used(SOON, WHILE)).isBetween(0.38, 0.4);
        regain(isEmpty);
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
        assertThat(gateways.unavailable()).isZero();
    }

    @Test
    void with_a_reserve_all_permits_are_used_as_soon_as_the_outage_is_over() {
        load(OutagePolicy.reserve(2, 0.4));
        gateways.cutOff(0);
        assertThat(used(SOON, WHILE)).as("while one is cut off").isGreaterThan(0.95);
        gateways.connect(0);
        assertThat(used(Duration.ofMillis(500), SECOND)).isGreaterThan(0.95);
    }

    @Test
    void a_pool_that_is_all_reserve_is_served_as_by_gateways_with_pools_of_their_own() {
        load(OutagePolicy.reserve(2, 1));
        lose();
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
        regain(true);
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
        assertThat(gateways.unavailable()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void optimistic_gateways_use_all_permits_during_the_outage_and_after_it_and_never_more(boolean isEmpty) {
        load(OutagePolicy.optimistic(0));
        lose();
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
        regain(isEmpty);
        assertThat(used(Duration.ofMillis(200), SOON)).as("also in a recovery").isGreaterThan(0.95);
        assertThat(used(SOON, WHILE)).isGreaterThan(0.95);
        assertThat(gateways.unavailable()).isZero();
    }

    @Test
    void an_optimistic_gateway_that_had_nothing_takes_its_part_when_the_slices_of_the_others_have_ended() {
        Holds slow = Holds.constant(Duration.ofMillis(400));
        gateways = gateways(OutagePolicy.optimistic(0));
        gateways.connect("a", 0, 20, slow);
        used(SOON, WHILE);
        gateways.cutOff(1);
        used(Duration.ZERO, Duration.ofMillis(500));
        gateways.cutOff(0);
        gateways.connect("b", 1, 20, slow);
        Measured during = gateways.measure(SOON, WHILE);
        assertThat(during.mostInUse()).isEqualTo(PERMITS);
        assertThat(during.of("b")).isBetween(0.48, 0.52);
    }

    @Test
    void an_optimistic_gateway_that_is_back_first_leaves_the_other_its_part_and_has_all_later() {
        gateways = gateways(OutagePolicy.optimistic(0));
        gateways.connect("a", 0, 20, SHORT);
        SimulatedGateways.Connections other = gateways.connect("b", 1, 20, SHORT);
        used(SOON, WHILE);
        lose();
        used(SOON, WHILE);
        gateways.connect(0);
        assertThat(used(Duration.ZERO, SOON)).isGreaterThan(0.95);
        gateways.connect(1);
        assertThat(used(Duration.ZERO, WHILE)).isGreaterThan(0.95);
        other.move(0);
        Measured alone = gateways.measure(SOON, WHILE);
        assertThat(alone.utilization()).isGreaterThan(0.95);
        assertThat(alone.mostInUse()).isEqualTo(PERMITS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_still_runs_by_an_optimistic_policy_is_in_the_ledger_before_others_get_more(boolean isEmpty) {
        TenantShares oneToFour = TenantShares.EQUAL.withMember(TenantId.of("b"), ShareSettings.ofWeight(4));
        gateways = new SimulatedGateways(PERMITS, oneToFour, 2, OutagePolicy.optimistic(0));
        gateways.connect("a", 0, 20, Holds.constant(WHILE));
        gateways.connect("b", 1, 20, SHORT);
        used(SOON, WHILE);
        lose();
        used(SOON, WHILE);
        regain(isEmpty);
        assertThat(gateways.mostInUse(WHILE.multipliedBy(2))).isEqualTo(PERMITS);
    }

    @Test
    void optimistic_gateways_that_lose_the_ledger_one_after_the_other_have_their_parts_together() {
        load(OutagePolicy.optimistic(0));
        gateways.cutOff(1);
        gateways.measure(SOON, SOON);
        gateways.cutOff(0);
        gateways.measure(Duration.ZERO, SOON);
        assertThat(gateways.mostInUse(WHILE)).isEqualTo(PERMITS);
        gateways.connect(0);
        gateways.measure(Duration.ZERO, SECOND);
        gateways.cutOff(0);
        gateways.measure(Duration.ZERO, SOON);
        assertThat(gateways.mostInUse(WHILE))
                .as("after a moment with the ledger")
                .isEqualTo(PERMITS);
    }

    @Test
    void an_optimistic_gateway_that_is_back_gives_its_part_up_soon_to_one_that_was_never_cut_off() {
        gateways = gateways(OutagePolicy.optimistic(0));
        gateways.connect("a", 0, 20, SHORT);
        gateways.connect("b", 1, 20, Holds.constant(WHILE.multipliedBy(3)));
        used(SOON, WHILE);
        gateways.cutOff(0);
        gateways.measure(SOON, SOON);
        gateways.connect(0);
        gateways.measure(Duration.ZERO, SOON);
        assertThat(gateways.mostInUse(SOON)).isLessThanOrEqualTo(PERMITS);
    }

    @Test
    void a_reserve_that_grows_waits_until_the_slices_of_others_have_room_for_it() {
        gateways = new SimulatedGateways(7, TenantShares.EQUAL, 4, OutagePolicy.reserve(4, 0.2));
        for (int i = 0; i < 4; i++) {
            gateways.connect("tenant-" + i, i, i == 0 ? 20 : 1, Holds.constant(SOON));
        }
        gateways.measure(SOON, WHILE);
        for (int i = 0; i < 4; i++) {
            gateways.reload(i, 8);
            gateways.connect("tenant-" + i, i, 20, Holds.constant(SOON));
        }
        assertThat(gateways.mostInUse(WHILE)).isLessThanOrEqualTo(8);
        assertThat(gateways.mostInUse(WHILE)).isEqualTo(8);
    }

    @Test
    void a_pool_that_becomes_too_small_in_an_outage_grants_nothing_more() {
        gateways = new SimulatedGateways(4, TenantShares.EQUAL, 2, OutagePolicy.reserve(2, 0.2));
        gateways.connect("a", 0, 20, SHORT);
        gateways.connect("b", 1, 20, SHORT);
        gateways.measure(SOON, SOON);
        gateways.cutOff(0);
        gateways.measure(SOON, SOON);
        assertThat(gateways.unavailable()).isZero();
        gateways.reload(0, 3);
        gateways.reload(1, 3);
        gateways.measure(SECOND, SECOND);
        assertThat(gateways.mostInUse(SOON)).isEqualTo(3);
        assertThat(gateways.unavailable()).as("at the gateway that is cut off").isPositive();
    }

    @Test
    void an_optimistic_gateway_takes_its_part_of_a_pool_that_has_become_smaller_in_the_outage() {
        load(OutagePolicy.optimistic(0));
        lose();
        used(SOON, SOON);
        gateways.reload(0, 4);
        gateways.reload(1, 4);
        gateways.measure(SECOND, SECOND);
        assertThat(gateways.mostInUse(SOON)).isEqualTo(4);
        gateways.connect(0);
        assertThat(gateways.mostInUse(SOON)).as("one is back").isEqualTo(4);
    }

    @Test
    void an_idle_optimistic_gateway_keeps_its_part_in_a_recovery() {
        gateways = gateways(OutagePolicy.optimistic(0));
        gateways.connect("b", 1, 20, SHORT);
        gateways.measure(SOON, SOON);
        lose();
        gateways.measure(SOON, SOON);
        regain(true);
        gateways.measure(Duration.ZERO, SECOND);
        gateways.connect("a", 0, 20, SHORT);
        assertThat(gateways.measure(SECOND, SECOND).of("a")).isGreaterThan(0.4);
    }

    @Test
    void gateways_reach_their_targets_beside_an_idle_one_with_a_reserve() {
        gateways = new SimulatedGateways(100, TenantShares.EQUAL, 3, OutagePolicy.reserve(3, 0.5));
        gateways.connect("a", 0, 100, SHORT);
        gateways.measure(SOON, SOON);
        gateways.connect("b", 1, 100, SHORT);
        Measured measured = gateways.measure(SOON, WHILE);
        assertThat(measured.of("b")).isBetween(0.48, 0.52);
        assertThat(measured.utilization())
                .as("without the reserve of the idle one")
                .isBetween(0.8, 0.84);
        assertThat(measured.mostInUse()).isLessThanOrEqualTo(84);
    }

    @Test
    void a_reserve_grows_also_beside_idle_gateways() {
        gateways = new SimulatedGateways(7, TenantShares.EQUAL, 4, OutagePolicy.reserve(4, 0.2));
        gateways.connect("a", 0, 20, SHORT);
        gateways.connect("b", 1, 20, SHORT);
        gateways.measure(SOON, SOON);
        for (int i = 0; i < 4; i++) {
            gateways.reload(i, 8);
        }
        gateways.measure(SOON, SOON);
        gateways.cutOff(0);
        gateways.cutOff(1);
        assertThat(gateways.measure(SOON, WHILE).utilization())
                .as("2 reserves of 7")
                .isBetween(0.27, 0.29);
    }

    @Test
    void what_a_reserve_serves_is_no_claim_to_a_slice() {
        gateways = new SimulatedGateways(100, TenantShares.EQUAL, 2, OutagePolicy.reserve(2, 0.2));
        gateways.connect("a", 0, 10, SHORT);
        gateways.connect("b", 1, 200, SHORT);
        assertThat(gateways.measure(SOON, WHILE).utilization()).isGreaterThan(0.97);
    }
}
