package io.fairgate.shares;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.Entitlements.Division;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.tenant.TenantId;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Without groups, {@code MaxMinTest} compares the shares in the status of a pool with those of an oracle. */
class EntitlementsTest {

    private static final Offset<Double> EXACT = offset(1e-9);

    private TenantShares shares = TenantShares.EQUAL;
    private final Map<TenantId, Double> asked = new LinkedHashMap<>();

    private static TenantId id(String tenant) {
        return TenantId.of(tenant);
    }

    private void group(String name, ShareSettings settings) {
        shares = shares.withGroup(name, Group.of(settings));
    }

    private void member(String tenant, ShareSettings settings, String group) {
        shares = shares.withMember(id(tenant), settings, group);
    }

    private void asks(String tenant, double permits) {
        asked.put(id(tenant), permits);
    }

    private Division of(int permits) {
        return new Entitlements(shares).of(permits, asked);
    }

    private double share(int permits, String tenant) {
        return of(permits).of(id(tenant));
    }

    @Test
    void a_groups_share_is_divided_between_its_tenants() {
        group("acme", ShareSettings.ofWeight(3));
        member("a", ShareSettings.EQUAL, "acme");
        member("b", ShareSettings.ofWeight(2), "acme");
        asks("a", 100);
        asks("b", 100);
        asks("other", 100);
        assertThat(share(12, "a")).isEqualTo(3, EXACT);
        assertThat(share(12, "b")).isEqualTo(6, EXACT);
        assertThat(share(12, "other")).isEqualTo(3, EXACT);
        assertThat(of(12).ofGroup("acme")).isEqualTo(9, EXACT);
    }

    @Test
    void what_a_tenant_does_not_ask_for_goes_to_its_group_first() {
        group("acme", ShareSettings.EQUAL);
        member("a", ShareSettings.EQUAL, "acme");
        member("b", ShareSettings.EQUAL, "acme");
        asks("a", 1);
        asks("b", 100);
        asks("other", 100);
        assertThat(share(12, "b")).isEqualTo(5, EXACT);
        assertThat(share(12, "other")).isEqualTo(6, EXACT);
    }

    @Test
    void a_group_within_a_group() {
        group("acme", ShareSettings.EQUAL);
        shares = shares.withGroup("sales", new Group(ShareSettings.EQUAL, "acme"));
        member("a", ShareSettings.EQUAL, "acme");
        member("s", ShareSettings.EQUAL, "sales");
        asks("a", 100);
        asks("s", 100);
        asks("other", 100);
        assertThat(share(12, "s")).isEqualTo(3, EXACT);
        assertThat(of(12).ofGroup("sales")).isEqualTo(3, EXACT);
        assertThat(of(12).ofGroup("acme")).isEqualTo(6, EXACT);
    }

    @Test
    void a_cap_of_a_group_bounds_all_in_it() {
        group("acme", ShareSettings.EQUAL.withMaxInFlight(2));
        member("a", ShareSettings.EQUAL, "acme");
        member("b", ShareSettings.EQUAL, "acme");
        asks("a", 100);
        asks("b", 100);
        asks("other", 100);
        assertThat(share(12, "a")).isEqualTo(1, EXACT);
        assertThat(share(12, "other")).isEqualTo(10, EXACT);
    }

    @Test
    void a_guarantee_of_a_group_comes_first() {
        group("acme", ShareSettings.EQUAL.withGuaranteed(9, 0));
        member("a", ShareSettings.EQUAL, "acme");
        asks("a", 100);
        asks("other", 100);
        assertThat(share(12, "a")).isEqualTo(9, EXACT);
        assertThat(share(12, "other")).isEqualTo(3, EXACT);
    }

    @Test
    void what_is_reserved_and_not_asked_for_belongs_to_no_other() {
        group("acme", ShareSettings.EQUAL.withGuaranteed(6, 6));
        member("a", ShareSettings.EQUAL, "acme");
        asks("other", 100);
        assertThat(share(12, "other")).as("the group is idle").isEqualTo(6, EXACT);
        asks("a", 2);
        assertThat(share(12, "a")).isEqualTo(2, EXACT);
        assertThat(share(12, "other")).as("the group asks for a part").isEqualTo(6, EXACT);
        asks("a", 8);
        assertThat(share(12, "a")).isEqualTo(6, EXACT);
    }

    @Test
    void what_is_reserved_is_idle_until_it_is_asked_for() {
        group("acme", ShareSettings.EQUAL.withGuaranteed(5, 5));
        member("a", ShareSettings.EQUAL.withGuaranteed(2, 2), "acme");
        asks("other", 100);
        assertThat(new Entitlements(shares).idle(asked)).isEqualTo(5, EXACT);
        asks("a", 4);
        assertThat(new Entitlements(shares).idle(asked)).isOne();
        asks("a", 6);
        assertThat(new Entitlements(shares).idle(asked)).isZero();
    }

    @Test
    void a_reservation_of_a_tenant_counts_in_its_group_as_well() {
        group("acme", ShareSettings.EQUAL);
        member("a", ShareSettings.EQUAL.withGuaranteed(4, 4), "acme");
        member("b", ShareSettings.EQUAL, "acme");
        asks("b", 100);
        asks("other", 100);
        assertThat(share(12, "b") + share(12, "other")).isEqualTo(8, EXACT);
        assertThat(share(12, "other")).isEqualTo(4, EXACT);
    }

    @Test
    void tenants_that_are_not_members_are_alike() {
        asks("x", 100);
        asks("y", 1);
        assertThat(share(10, "x")).isEqualTo(9, EXACT);
        assertThat(share(10, "silent")).isZero();
        assertThat(of(10).ofGroup("none")).isZero();
    }
}
