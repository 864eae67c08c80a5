package io.fairgate.redis.division;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterSharesTest {

    private static final TenantId A = TenantId.of("a");
    private static final TenantId B = TenantId.of("b");

    private final Map<String, NodeDemand> nodes = new HashMap<>();
    private ClusterShares shares = new ClusterShares(TenantShares.EQUAL);

    private void tells(String node, double owed, Map<TenantId, Double> wanted) {
        tells(node, owed, wanted, LargeDemand.NONE);
    }

    private void tells(String node, double owed, Map<TenantId, Double> wanted, LargeDemand large) {
        nodes.put(node, new NodeDemand(wanted, owed, Integer.MAX_VALUE, large));
    }

    private NodeShare of(int permits, String node) {
        return shares.of(permits, node, nodes);
    }

    private int target(int permits, String node) {
        return of(permits, node).target();
    }

    @Test
    void a_tenant_at_two_nodes_has_its_share_divided_by_what_it_wants_at_each() {
        tells("one", 0, Map.of(A, 100.0, B, 25.0));
        tells("two", 0, Map.of(B, 75.0));
        assertThat(target(16, "one")).isEqualTo(8 + 2);
        assertThat(target(16, "two")).isEqualTo(6);
        assertThat(of(16, "one").parts()).containsOnly(Map.entry(A, 1.0), Map.entry(B, 0.25));
        assertThat(of(16, "two").parts()).containsOnly(Map.entry(B, 0.75));
    }

    @Test
    void weights_and_caps_are_those_of_the_cluster() {
        shares = new ClusterShares(TenantShares.EQUAL
                .withMember(A, ShareSettings.ofWeight(3))
                .withMember(B, ShareSettings.EQUAL.withMaxInFlight(2)));
        tells("one", 0, Map.of(A, 100.0));
        tells("two", 0, Map.of(B, 100.0));
        assertThat(target(16, "one")).isEqualTo(14);
        assertThat(target(16, "two")).isEqualTo(2);
    }

    @Test
    void the_weight_of_a_group_counts_for_what_it_is_entitled_to_at_the_node() {
        shares = new ClusterShares(TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL))
                .withMember(A, ShareSettings.ofWeight(3), "acme")
                .withMember(B, ShareSettings.EQUAL, "acme"));
        tells("one", 0, Map.of(A, 100.0));
        tells("two", 0, Map.of(B, 100.0, TenantId.of("c"), 100.0));
        assertThat(of(16, "one").groupParts()).containsOnly(Map.entry("acme", 0.75));
        assertThat(of(16, "two").groupParts()).containsOnly(Map.entry("acme", 0.25));
        assertThat(target(16, "two")).isEqualTo(2 + 8);
    }

    @Test
    void the_weight_of_a_group_counts_for_the_part_that_each_of_its_tenants_wants_at_the_node() {
        shares = new ClusterShares(TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL))
                .withMember(A, ShareSettings.EQUAL, "acme")
                .withMember(B, ShareSettings.EQUAL, "acme"));
        tells("one", 0, Map.of(A, 75.0));
        tells("two", 0, Map.of(A, 25.0, B, 100.0, TenantId.of("c"), 100.0));
        assertThat(of(16, "one").groupParts()).containsOnly(Map.entry("acme", 0.375));
        assertThat(of(16, "two").groupParts()).containsOnly(Map.entry("acme", 0.625));
    }

    @Test
    void the_nodes_that_are_owed_most_get_the_permits_of_which_several_have_a_part() {
        tells("one", 0.5, Map.of(A, 10.0));
        tells("two", 0.7, Map.of(B, 10.0));
        tells("three", -1.2, Map.of(TenantId.of("c"), 10.0));
        assertThat(target(5, "one")).isEqualTo(2);
        assertThat(target(5, "two")).isEqualTo(2);
        assertThat(target(5, "three")).isEqualTo(1);
        assertThat(target(4, "one")).isEqualTo(1);
        assertThat(target(4, "two")).isEqualTo(2);
        assertThat(target(4, "three")).isEqualTo(1);
        assertThat(of(4, "three").entitled()).isEqualTo(4 / 3.0, offset(1e-9));
    }

    @Test
    void a_node_keeps_a_permit_that_it_has_just_got_although_others_are_owed_more() {
        tells("one", 0.5, Map.of(A, 10.0));
        tells("two", -1.2, Map.of(B, 10.0));
        assertThat(shares.of(3, "two", nodes, true).target()).isEqualTo(2);
        assertThat(shares.of(3, "two", nodes, false).target()).isEqualTo(1);
        assertThat(shares.of(3, "two", nodes, true).entitled()).isEqualTo(1.5);
    }

    @Test
    void beside_a_large_request_a_node_keeps_no_permit_from_those_that_are_owed_more() {
        tells("large", 9, Map.of(TenantId.of("c"), 6.0), needs(6, 9, TenantId.of("c"), 6));
        tells("one", 0.5, Map.of(A, 10.0));
        tells("two", -1.2, Map.of(B, 10.0));
        assertThat(shares.of(9, "large", nodes, false).isFirst()).isTrue();
        assertThat(shares.of(9, "two", nodes, true).target()).isEqualTo(1);
        assertThat(shares.of(9, "one", nodes, false).target()).isEqualTo(2);
    }

    @Test
    void a_sum_that_is_a_whole_number_but_for_rounding_is_whole() {
        Map<TenantId, Double> tenths = new HashMap<>();
        for (int i = 0; i < 10; i++) {
            tenths.put(TenantId.of("t" + i), 0.1);
        }
        tells("one", 0, tenths);
        tells("two", 5, Map.of(A, 100.0));
        tells("three", 4, Map.of(B, 100.0));
        assertThat(of(2, "one").entitled()).isLessThan(1);
        assertThat(target(2, "one")).isEqualTo(1);
        assertThat(target(2, "two")).isEqualTo(1);
        assertThat(target(2, "three")).isZero();
    }

    @Test
    void a_node_that_wants_nothing_gets_nothing_while_permits_are_scarce() {
        tells("one", 0, Map.of(A, 10.0));
        tells("idle", 9, Map.of());
        assertThat(of(4, "one").isScarce()).isTrue();
        assertThat(target(4, "one")).isEqualTo(4);
        assertThat(target(4, "idle")).isZero();
        assertThat(target(4, "unknown")).isZero();
    }

    @Test
    void of_what_nobody_wants_each_node_gets_some_and_half_stays_free() {
        tells("one", 0, Map.of(A, 2.0));
        tells("two", 0, Map.of());
        assertThat(of(10, "one").isScarce()).isFalse();
        assertThat(target(10, "one")).isEqualTo(2 + 1);
        assertThat(target(10, "two")).isEqualTo(1);
        assertThat(target(102, "two")).isEqualTo(24);
    }

    @Test
    void what_is_reserved_and_not_asked_for_is_in_no_target() {
        shares = new ClusterShares(TenantShares.EQUAL.withMember(A, ShareSettings.EQUAL.withGuaranteed(2, 2)));
        tells("one", 0, Map.of(B, 100.0));
        tells("two", 0, Map.of(B, 100.0));
        tells("three", 0, Map.of(B, 100.0));
        assertThat(target(12, "one") + target(12, "two") + target(12, "three")).isEqualTo(10);
        nodes.keySet().retainAll(Set.of("one"));
        tells("one", 0, Map.of(B, 1.0));
        assertThat(target(20, "one")).isEqualTo(18);
    }

    @Test
    void the_only_node_gets_all_permits() {
        tells("one", 0, Map.of());
        assertThat(target(7, "one")).isEqualTo(7);
        tells("one", 0, Map.of(A, 2.0));
        assertThat(target(7, "one")).isEqualTo(7);
        tells("one", 0, Map.of(A, 9.0));
        assertThat(target(7, "one")).isEqualTo(7);
    }

    @Test
    void a_node_that_has_told_nothing_should_have_nothing() {
        assertThat(of(10, "unknown")).isEqualTo(NodeShare.NONE);
        tells("one", 0, Map.of(A, 1.0));
        assertThat(of(10, "unknown")).isEqualTo(NodeShare.NONE);
    }

    @Test
    void the_targets_never_exceed_the_pool() {
        tells("one", 0, Map.of(A, 0.5));
        tells("two", 0, Map.of(B, 0.7));
        tells("three", 0, Map.of(B, 30.0));
        for (int permits = 1; permits < 40; permits++) {
            assertThat(target(permits, "one") + target(permits, "two") + target(permits, "three"))
                    .as("of %d", permits)
                    .isLessThanOrEqualTo(permits);
        }
    }

    // ---- requests for more permits than their node should have ----

    private static LargeDemand needs(int permits, double urgency) {
        return new LargeDemand(permits, urgency, 0, Map.of());
    }

    private static LargeDemand needs(int permits, double urgency, TenantId tenant, double behind) {
        return new LargeDemand(permits, urgency, 0, Map.of(tenant, behind));
    }

    private void assertTargets(int permits, int one, int two) {
        assertThat(Map.of("one", target(permits, "one"), "two", target(permits, "two")))
                .isEqualTo(Map.of("one", one, "two", two));
    }

    @Test
    void a_node_that_is_owed_something_should_have_what_its_request_needs_and_the_others_divide_the_rest() {
        tells("one", 0.5, Map.of(A, 6.0), needs(6, 0.5, A, 6));
        tells("two", -0.5, Map.of(B, 40.0));
        assertTargets(10, 6, 4);
        assertThat(of(10, "one").isFirst()).isTrue();
        assertThat(of(10, "two").isFirst()).isFalse();
        assertThat(of(10, "one").entitled()).as("what it pays with").isEqualTo(5);
    }

    @Test
    void a_node_that_is_not_urgent_lets_the_others_have_all() {
        tells("one", -0.5, Map.of(A, 6.0), needs(6, -0.5, A, 6));
        tells("two", 0.5, Map.of(B, 40.0));
        assertTargets(10, 0, 10);
        assertThat(of(10, "one").entitled()).as("it is owed more meanwhile").isEqualTo(5);
        assertThat(of(10, "one").isScarce()).isTrue();
    }

    @Test
    void what_the_others_do_not_want_a_request_gets_also_when_it_is_not_urgent() {
        tells("one", -9, Map.of(A, 9.0), needs(9, -9, A, 9));
        tells("two", 9, Map.of(B, 1.0));
        tells("three", 0, Map.of());
        assertTargets(10, 9, 1);
        tells("two", 9, Map.of(B, 2.0));
        assertTargets(10, 0, 2);
    }

    @Test
    void small_requests_of_a_node_that_is_not_first_are_served() {
        TenantId c = TenantId.of("c");
        tells("one", -1, Map.of(A, 8.0, c, 2.0), needs(8, -1, A, 8));
        tells("two", 1, Map.of(B, 40.0));
        assertTargets(10, 2, 8);
    }

    @Test
    void a_request_for_as_much_as_the_node_should_have_is_not_large() {
        tells("one", -1, Map.of(A, 5.0), needs(5, -1));
        tells("two", 1, Map.of(B, 40.0));
        assertTargets(10, 5, 5);
        assertThat(of(10, "one").isFirst()).isFalse();
    }

    @Test
    void the_most_urgent_request_is_first() {
        tells("one", 0, Map.of(A, 10.0), needs(10, 1, A, 10));
        tells("two", 0, Map.of(B, 10.0), needs(10, 1.5, B, 10));
        assertTargets(10, 0, 10);
        tells("one", 0, Map.of(A, 10.0), needs(10, 2, A, 10));
        assertTargets(10, 10, 0);
    }

    @Test
    void all_nodes_find_the_same_node_to_be_first_when_requests_are_as_urgent() {
        tells("one", 0, Map.of(A, 10.0), needs(10, 0, A, 10));
        tells("two", 0, Map.of(B, 10.0), needs(10, 0, B, 10));
        assertThat(target(10, "one") + target(10, "two")).isEqualTo(10);
        assertThat(Math.abs(target(10, "one") - target(10, "two"))).isEqualTo(10);
    }

    @Test
    void a_request_that_does_not_fit_beside_the_leases_of_others_takes_nothing_and_is_not_owed_anything() {
        tells("one", 1, Map.of(A, 10.0), needs(10, 1, A, 10));
        tells("two", 0, Map.of(B, 40.0), new LargeDemand(0, 0, 1, Map.of()));
        assertTargets(10, 0, 10);
        assertThat(of(10, "one").entitled()).isZero();
        assertThat(of(10, "two").entitled()).isEqualTo(5);
        tells("one", 1, Map.of(A, 9.0), needs(9, 1, A, 9));
        assertTargets(10, 9, 1);
    }

    @Test
    void a_request_that_fits_beside_no_lease_leaves_all_permits_to_the_others_of_its_node() {
        TenantId c = TenantId.of("c");
        tells("one", 0, Map.of(A, 3.0, B, 8.0, c, 2.0), new LargeDemand(5, 1, 2, Map.of(A, 3.0)));
        tells("two", 0, Map.of());
        assertTargets(4, 4, 0);
    }

    @Test
    void a_large_request_bounds_no_tenant_without_one_at_the_other_nodes() {
        tells("one", -9, Map.of(A, 10.0, B, 20.0), needs(10, -9, A, 10));
        tells("two", 1, Map.of(B, 20.0));
        assertThat(of(10, "one").isFirst()).isFalse();
        assertTargets(10, 1, 9);
    }

    @Test
    void permits_in_advance_are_no_debt_while_a_request_does_not_fit_beside_leases() {
        tells("one", 0, Map.of(A, 100.0), needs(100, 0, A, 100));
        tells("two", 0, Map.of(B, 1.0), new LargeDemand(0, 0, 1, Map.of()));
        assertThat(of(100, "one").isScarce()).isFalse();
    }

    @Test
    void others_that_want_less_than_before_count_with_no_more_than_they_are_owed() {
        tells("one", 99, Map.of(A, 10.0), needs(10, 99, A, 10));
        tells("two", 100, Map.of(B, 1.0));
        assertThat(of(10, "one").isFirst()).isFalse();
        tells("one", 100, Map.of(A, 10.0), needs(10, 100, A, 10));
        assertThat(of(10, "one").isFirst()).as("not 9 times as much").isTrue();
    }

    @Test
    void others_that_are_owed_little_count_by_how_long_they_have_waited() {
        tells("one", 8, Map.of(A, 10.0), needs(10, 8, A, 10));
        tells("two", 1, Map.of(B, 1.0));
        assertThat(of(10, "one").isFirst()).isFalse();
        tells("one", 9, Map.of(A, 10.0), needs(10, 9, A, 10));
        assertThat(of(10, "one").isFirst()).isTrue();
    }

    @Test
    void leases_of_others_stay_beside_a_large_request() {
        tells("one", 1, Map.of(A, 6.0), needs(6, 1, A, 6));
        tells("two", 0, Map.of(TenantId.of("c"), 3.0), new LargeDemand(0, 0, 3, Map.of()));
        tells("three", -1, Map.of(B, 40.0));
        assertTargets(10, 6, 3);
        assertThat(target(10, "three")).isOne();
    }

    @Test
    void beside_a_large_request_a_node_gets_its_leases_and_its_part_of_the_rest() {
        TenantId c = TenantId.of("c");
        tells("one", 1, Map.of(A, 7.0), needs(7, 1, A, 7));
        tells("two", 0, Map.of(c, 4.0), new LargeDemand(0, 0, 3, Map.of()));
        tells("three", -1, Map.of(B, 40.0));
        assertTargets(16, 7, 3 + 1);
        assertThat(target(16, "three")).isEqualTo(5);
    }

    @Test
    void what_is_reserved_and_asked_for_beside_a_large_request_is_not_divided_twice() {
        TenantId r = TenantId.of("r");
        shares = new ClusterShares(TenantShares.EQUAL.withMember(r, ShareSettings.EQUAL.withGuaranteed(2, 2)));
        tells("one", 1, Map.of(A, 6.0), needs(6, 1, A, 6));
        tells("two", 0, Map.of(r, 2.0));
        tells("three", -1, Map.of(B, 40.0));
        assertTargets(10, 6, 2);
        assertThat(target(10, "three")).isEqualTo(2);
    }

    @Test
    void a_request_for_one_permit_beside_leases_is_not_large() {
        tells("one", 1, Map.of(A, 6.0), new LargeDemand(6, 1, 5, Map.of(A, 1.0)));
        tells("two", 0, Map.of(B, 40.0));
        assertThat(of(10, "one").isFirst()).isFalse();
        tells("one", 1, Map.of(A, 7.0), new LargeDemand(7, 1, 5, Map.of(A, 2.0)));
        assertThat(of(10, "one").isFirst()).isTrue();
    }

    @Test
    void permits_for_small_requests_of_a_node_count_for_its_large_one() {
        TenantId c = TenantId.of("c");
        tells("one", -9, Map.of(A, 8.0, c, 2.0), needs(8, -9, A, 8));
        tells("two", -20, Map.of(B, 10.0), needs(10, -20, B, 10));
        assertThat(of(10, "one").isFirst()).isTrue();
    }

    @Test
    void without_other_nodes_a_node_is_compared_with_all() {
        TenantId c = TenantId.of("c");
        tells("one", 4, Map.of(A, 10.0), needs(10, 14, A, 10));
        tells("two", -2, Map.of(B, 10.0, c, 2.0), needs(10, -20, B, 10));
        assertThat(of(10, "one").isFirst()).isTrue();
        tells("two", 50, Map.of(B, 10.0, c, 2.0), needs(10, -20, B, 10));
        assertThat(of(10, "one").isFirst()).isFalse();
    }

    @Test
    void a_large_request_does_not_get_what_another_tenant_reserves() {
        TenantId r = TenantId.of("r");
        shares = new ClusterShares(TenantShares.EQUAL.withMember(r, ShareSettings.EQUAL.withGuaranteed(5, 5)));
        tells("one", 1, Map.of(A, 5.0), needs(5, 1, A, 5));
        tells("two", 0, Map.of(B, 3.0), new LargeDemand(0, 0, 3, Map.of()));
        assertThat(of(10, "one").isFirst()).isFalse();
        tells("two", 0, Map.of(B, 3.0));
        assertThat(of(10, "one").isFirst()).isTrue();
        assertTargets(10, 5, 0);
    }

    @Test
    void a_large_request_of_a_tenant_that_reserves_leaves_the_rest_to_others() {
        TenantId r = TenantId.of("r");
        shares = new ClusterShares(TenantShares.EQUAL.withMember(r, ShareSettings.EQUAL.withGuaranteed(2, 2)));
        tells("one", 1, Map.of(r, 8.0), needs(8, 1, r, 8));
        tells("two", -1, Map.of(B, 40.0));
        assertTargets(10, 8, 2);
    }

    @Test
    void a_node_with_a_large_request_waits_while_the_others_are_owed_more() {
        tells("three", 0, Map.of(TenantId.of("c"), 40.0));
        tells("one", 5, Map.of(A, 10.0), needs(10, 5, A, 10));
        tells("two", 11, Map.of(B, 40.0));
        assertThat(of(10, "one").isFirst()).as("1.5 s, and 1.65 s").isFalse();
        tells("three", -2, Map.of(TenantId.of("c"), 40.0));
        assertThat(of(10, "one").isFirst()).as("1.5 s, and 1.35 s").isTrue();
    }

    @Test
    void a_node_with_a_large_request_waits_until_it_is_owed_something_itself() {
        tells("one", -0.1, Map.of(A, 10.0), needs(10, -0.1, A, 10));
        tells("two", -5, Map.of(B, 40.0));
        assertTargets(10, 0, 10);
        tells("one", 0, Map.of(A, 10.0), needs(10, 0, A, 10));
        assertTargets(10, 10, 0);
    }

    /** What two such nodes have beside each other says nothing about the third. */
    @Test
    void other_nodes_with_large_requests_do_not_count_as_others() {
        tells("one", 1, Map.of(A, 10.0), needs(10, 1, A, 10));
        tells("two", 50, Map.of(TenantId.of("c"), 10.0), needs(10, 0.5, TenantId.of("c"), 10));
        tells("three", 0.5, Map.of(B, 40.0));
        assertThat(of(10, "one").isFirst()).isTrue();
    }

    @Test
    void the_leases_of_a_node_are_within_what_its_request_needs() {
        tells("one", 1, Map.of(A, 10.0), new LargeDemand(10, 1, 4, Map.of(A, 6.0)));
        tells("two", 0, Map.of(B, 40.0));
        assertTargets(10, 10, 0);
    }

    @Test
    void a_request_for_which_permits_do_not_come_back_in_time_takes_nothing() {
        tells("one", 1, Map.of(A, 9.0), new LargeDemand(0, 1, 0, Map.of(A, 8.0)));
        tells("two", 0, Map.of(B, 40.0));
        assertTargets(10, 1, 9);
    }

    @Test
    void a_tenant_with_a_large_request_gets_no_more_than_its_share_at_the_other_node() {
        tells("one", -1, Map.of(A, 10.0), needs(10, -1, A, 10));
        tells("two", 1, Map.of(A, 10.0, B, 40.0));
        tells("three", 0, Map.of(B, 40.0));
        assertThat(of(12, "two").entitled()).isEqualTo(6);
        assertTargets(12, 0, 3 + 5);
        assertThat(target(12, "three")).isEqualTo(4);
    }
}
