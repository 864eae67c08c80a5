package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.redis.slice.SimulatedGateways.Measured;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import java.time.Duration;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tenants share the permits of several gateways as if there were one, whichever gateways they use. */
class FairClusterTest {

    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Offset<Double> CLOSE = offset(0.025);
    private static final int BACKLOG = 40;
    private static final TenantShares GUARANTEED_8 = TenantShares.EQUAL.withMember(
            TenantId.of("a"), ShareSettings.ofWeight(0.01).withGuaranteed(8, 0));

    private static Holds about(int millis) {
        return Holds.exponential(Duration.ofMillis(millis));
    }

    private static Holds exactly(int millis) {
        return Holds.constant(Duration.ofMillis(millis));
    }

    private static TenantShares weights(double a, double b) {
        return TenantShares.EQUAL
                .withMember(TenantId.of("a"), ShareSettings.ofWeight(a))
                .withMember(TenantId.of("b"), ShareSettings.ofWeight(b));
    }

    private static void assertFull(Measured measured, int permits, double least) {
        assertThat(measured.utilization()).isGreaterThan(least);
        assertThat(measured.mostInUse()).isEqualTo(permits);
    }

    @Test
    void one_tenant_at_each_gateway() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void weights_count_across_gateways() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(3, 1), 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.75, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void a_tenant_at_two_gateways_gets_one_share() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void long_holds_at_one_gateway_and_short_ones_at_the_other() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, BACKLOG, exactly(3_000));
        gateways.connect("b", 1, BACKLOG, exactly(10));
        Measured measured = gateways.measure(Duration.ofSeconds(10), MINUTE.multipliedBy(3));
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void demand_that_moves_to_the_other_gateway() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(3, 1), 2);
        SimulatedGateways.Connections a = gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        gateways.measure(SOON, SOON);
        a.move(1);
        Measured measured = gateways.measure(Duration.ofMillis(400), MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.75, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void a_tenant_that_hops_between_gateways_gains_nothing() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, BACKLOG, exactly(3_000)).hopEvery(Duration.ofMillis(500));
        gateways.connect("b", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(Duration.ofSeconds(10), MINUTE.multipliedBy(3));
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.95);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 6})
    void one_permit_is_hardly_idle_between_gateways_and_each_gets_its_part(int number) {
        SimulatedGateways gateways = new SimulatedGateways(1, TenantShares.EQUAL, number);
        for (int i = 0; i < number; i++) {
            gateways.connect("tenant-" + i, i, 4, about(20));
        }
        Measured measured = gateways.measure(SOON, MINUTE);
        assertFull(measured, 1, 0.95);
        for (int i = 0; i < number; i++) {
            assertThat(measured.of("tenant-" + i)).isEqualTo(1.0 / number, CLOSE);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {12, 20})
    void tenants_at_many_gateways_share_fewer_permits_than_there_are_gateways(int number) {
        SimulatedGateways gateways = new SimulatedGateways(5, TenantShares.EQUAL, number);
        for (int i = 0; i < number; i++) {
            gateways.connect("tenant-" + i, i, 4, about(50));
        }
        Measured measured = gateways.measure(Duration.ofSeconds(5), Duration.ofSeconds(20));
        assertFull(measured, 5, 0.97);
        for (int i = 0; i < number; i++) {
            assertThat(measured.of("tenant-" + i) * number).isEqualTo(1, offset(0.05));
        }
    }

    @Test
    void one_permit_goes_round_three_gateways() {
        SimulatedGateways gateways = new SimulatedGateways(1, weights(2, 1), 3);
        gateways.connect("a", 0, BACKLOG, exactly(20));
        gateways.connect("b", 1, BACKLOG, exactly(20));
        gateways.connect("c", 2, BACKLOG, exactly(500));
        Measured measured = gateways.measure(SOON, MINUTE.multipliedBy(3));
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertThat(measured.of("b")).isEqualTo(0.25, CLOSE);
        assertFull(measured, 1, 0.8);
    }

    @Test
    void two_permits_for_three_gateways() {
        SimulatedGateways gateways = new SimulatedGateways(2, TenantShares.EQUAL, 3);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        gateways.connect("c", 2, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(1 / 3.0, CLOSE);
        assertThat(measured.of("b")).isEqualTo(1 / 3.0, CLOSE);
        assertFull(measured, 2, 0.9);
    }

    @Test
    void a_tenant_gets_what_another_does_not_want() {
        SimulatedGateways gateways = new SimulatedGateways(20, weights(1, 1), 2);
        gateways.connect("a", 0, 4, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a") * measured.utilization() * 20).isEqualTo(4, offset(0.3));
        assertFull(measured, 20, 0.95);
    }

    @ParameterizedTest
    @CsvSource({"4, 20", "4, 100", "20, 500"})
    void a_tenant_within_its_share_gets_nearly_as_much_as_from_one_gateway(int connections, int pauseMillis) {
        double fromOne = usedByFew(1, connections, pauseMillis);
        double fromTwo = usedByFew(2, connections, pauseMillis);
        assertThat(fromTwo / fromOne).isBetween(0.95, 1.05);
    }

    /** What a tenant with short requests and pauses between them uses of a pool that another tenant would fill. */
    private static double usedByFew(int number, int connections, int pauseMillis) {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), number);
        gateways.connect("a", 0, connections, about(20), Duration.ofMillis(pauseMillis));
        gateways.connect("b", number - 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertFull(measured, 10, 0.8);
        return measured.of("a") * measured.utilization();
    }

    @Test
    void groups_share_across_gateways() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL))
                .withMember(TenantId.of("a"), ShareSettings.EQUAL, "acme")
                .withMember(TenantId.of("b"), ShareSettings.EQUAL, "acme");
        SimulatedGateways gateways = new SimulatedGateways(12, shares, 3);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        gateways.connect("c", 2, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.25, CLOSE);
        assertThat(measured.of("c")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 12, 0.97);
    }

    @Test
    void a_group_at_two_gateways_gets_one_share() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL))
                .withMember(TenantId.of("a"), ShareSettings.EQUAL, "acme")
                .withMember(TenantId.of("b"), ShareSettings.EQUAL, "acme");
        SimulatedGateways gateways = new SimulatedGateways(12, shares, 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        gateways.connect("c", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.25, CLOSE);
        assertThat(measured.of("c")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 12, 0.97);
    }

    @Test
    void a_guarantee_is_that_of_all_gateways_together() {
        SimulatedGateways gateways = new SimulatedGateways(20, GUARANTEED_8, 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("a", 1, BACKLOG, about(20));
        gateways.connect("b", 0, BACKLOG, about(20));
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.4, CLOSE);
        assertFull(measured, 20, 0.97);
    }

    @Test
    void a_guarantee_is_served_at_the_gateway_where_it_is_wanted() {
        SimulatedGateways gateways = new SimulatedGateways(20, GUARANTEED_8, 2);
        gateways.connect("a", 0, BACKLOG, about(20));
        gateways.connect("b", 0, BACKLOG, about(300));
        gateways.connect("b", 1, BACKLOG, about(300));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.4, CLOSE);
        assertFull(measured, 20, 0.97);
    }

    @Test
    void many_tenants_at_many_gateways() {
        TenantShares shares = weights(1, 1).withMember(TenantId.of("c"), ShareSettings.ofWeight(4));
        SimulatedGateways gateways = new SimulatedGateways(40, shares, 4);
        for (int i = 0; i < 4; i++) {
            gateways.connect("a", i, BACKLOG, about(50));
        }
        gateways.connect("b", 0, BACKLOG, about(300));
        gateways.connect("c", 1, BACKLOG, about(20));
        gateways.connect("c", 2, BACKLOG, Holds.pareto(Duration.ofMillis(20)));
        Measured measured = gateways.measure(Duration.ofSeconds(5), MINUTE);
        assertThat(measured.of("a")).isEqualTo(1 / 6.0, CLOSE);
        assertThat(measured.of("b")).isEqualTo(1 / 6.0, CLOSE);
        assertFull(measured, 40, 0.95);
    }

    // ---- requests for more permits than their gateway is entitled to ----

    @Test
    void gateways_whose_requests_want_all_permits_take_turns_by_weight() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(3, 1), 2);
        gateways.connect("a", 0, 2, 10, about(50), Duration.ZERO);
        gateways.connect("b", 1, 2, 10, about(50), Duration.ZERO);
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.75, CLOSE);
        assertFull(measured, 10, 0.97);
    }

    @Test
    void three_gateways_whose_requests_want_all_permits() {
        SimulatedGateways gateways = new SimulatedGateways(4, TenantShares.EQUAL, 3);
        gateways.connect("a", 0, 2, 4, about(50), Duration.ZERO);
        gateways.connect("b", 1, 2, 4, about(50), Duration.ZERO);
        gateways.connect("c", 2, 2, 4, about(50), Duration.ZERO);
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(1 / 3.0, CLOSE);
        assertThat(measured.of("b")).isEqualTo(1 / 3.0, CLOSE);
        assertFull(measured, 4, 0.94);
    }

    @Test
    void requests_for_all_permits_at_one_gateway_and_small_ones_at_the_other() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, 2, 10, about(50), Duration.ZERO);
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.95);
    }

    @Test
    void requests_that_need_a_little_more_than_their_gateway_is_entitled_to() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, 4, 6, about(100), Duration.ZERO);
        gateways.connect("b", 1, BACKLOG, about(20));
        Measured measured = gateways.measure(SOON, MINUTE);
        assertThat(measured.of("a")).isEqualTo(0.5, CLOSE);
        assertFull(measured, 10, 0.96);
    }

    @Test
    void a_request_for_all_permits_waits_for_long_holds_at_the_other_gateway() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, 2, 10, about(50), Duration.ZERO);
        gateways.connect("b", 1, BACKLOG, exactly(3_000));
        Measured measured = gateways.measure(Duration.ofSeconds(10), MINUTE.multipliedBy(2));
        assertThat(measured.of("a")).isEqualTo(0.5, offset(0.05));
        assertFull(measured, 10, 0.9);
    }

    /** The requests in vain cost their own tenant, and not the others. */
    @Test
    void a_request_that_a_long_hold_prevents_takes_nothing_from_the_share_of_others() {
        SimulatedGateways gateways = new SimulatedGateways(10, TenantShares.EQUAL, 2);
        gateways.connect("a", 0, 2, 10, about(50), Duration.ZERO);
        gateways.connect("b", 1, BACKLOG, about(20));
        gateways.connect("c", 1, 1, exactly(600_000));
        Measured measured = gateways.measure(Duration.ofSeconds(10), MINUTE.multipliedBy(2));
        assertThat(measured.of("a")).isZero();
        assertThat(measured.of("b") * measured.utilization()).as("of 0.45").isGreaterThan(0.44);
    }

    @Test
    void clients_that_leave_while_permits_are_collected_for_them_take_nothing_from_the_share_of_others() {
        SimulatedGateways gateways = new SimulatedGateways(10, weights(1, 1), 2);
        gateways.connect("a", 0, 2, 10, about(50), Duration.ZERO).cancelAfter(Duration.ofMillis(60));
        gateways.connect("b", 1, BACKLOG, about(100));
        Measured measured = gateways.measure(Duration.ofSeconds(10), MINUTE);
        assertThat(measured.of("b") * measured.utilization()).isGreaterThan(0.48);
        assertThat(measured.mostInUse()).isEqualTo(10);
    }

    /** Four gateways take turns with requests for all permits, and the fifth one has small requests. */
    private static SimulatedGateways smallRequestsBesideFourLarge() {
        SimulatedGateways gateways = new SimulatedGateways(10, TenantShares.EQUAL, 5);
        for (int i = 0; i < 4; i++) {
            gateways.connect("large" + i, i, 2, 10, about(50), Duration.ZERO);
        }
        gateways.connect("small", 4, BACKLOG, about(20));
        return gateways;
    }

    @Test
    void small_requests_keep_their_share_beside_several_gateways_with_large_ones() {
        Measured measured = smallRequestsBesideFourLarge().measure(Duration.ofSeconds(20), MINUTE.multipliedBy(2));
        assertThat(measured.of("small")).as("of 0.2").isGreaterThan(0.19);
        assertFull(measured, 10, 0.9);
    }

    @Test
    void small_requests_keep_their_share_beside_several_gateways_whose_turns_are_in_vain() {
        SimulatedGateways gateways = smallRequestsBesideFourLarge();
        gateways.connect("long", 4, 1, exactly(600_000));
        Measured measured = gateways.measure(Duration.ofSeconds(20), MINUTE.multipliedBy(2));
        assertThat(measured.of("small") * measured.utilization()).as("of 0.18").isGreaterThan(0.17);
    }
}
