package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The nodes of the hierarchy, and the way up from a leaf, which the public API does not show. */
class HierarchyTest {

    private static final TenantId X = TenantId.of("x");

    private final SchedulingGroup top = newGroup();
    private final HierarchyWalks walks = new HierarchyWalks(top, 10, 0);
    private final Hierarchy hierarchy = new Hierarchy(walks, now -> newGroup());

    private static SchedulingGroup newGroup() {
        return new SchedulingGroup(new HeapRunQueue(), new Gain(1, 0), 0);
    }

    private void change(TenantShares shares) {
        hierarchy.change(shares, shares.calculatedCaps(10), 1_000_000_000L);
    }

    private static QueuedRequest request(@Nullable String requestClass, int permits) {
        return new QueuedRequest(X, requestClass, permits) {
            @Override
            protected boolean accept() {
                return true;
            }
        };
    }

    @Test
    void only_the_leaf_of_a_removed_class_is_forgotten() {
        TenantShares member = TenantShares.EQUAL.withMember(X, ShareSettings.EQUAL);
        change(member.withClass("batch", ShareSettings.EQUAL).withClass("page", ShareSettings.EQUAL));
        hierarchy.leafOf(request("batch", 1));
        hierarchy.leafOf(request("page", 1));
        assertThat(hierarchy.leaves()).extracting(leaf -> leaf.name).containsExactly("", "batch", "page");

        change(member.withClass("page", ShareSettings.EQUAL));
        assertThat(hierarchy.leaves()).extracting(leaf -> leaf.name).containsExactly("", "page");
    }

    @Test
    void a_removed_group_has_no_node() {
        change(TenantShares.EQUAL
                .withGroup("outer", Group.of(ShareSettings.EQUAL))
                .withGroup("inner", new Group(ShareSettings.EQUAL, "outer"))
                .withMember(X, ShareSettings.EQUAL, "inner"));
        assertThat(hierarchy.allGroups()).hasSize(3);

        change(TenantShares.EQUAL.withMember(X, ShareSettings.EQUAL));
        assertThat(hierarchy.allGroups()).containsExactly(top);
    }

    @Test
    void each_touched_node_is_checked_once() {
        SchedulingGroup children = newGroup();
        walks.touch(children);
        walks.touch(children);
        walks.touch(top);
        assertThat(walks.touched).as("the top is always looked at").containsExactly(children);

        walks.runOrStopClocks();
        assertThat(walks.touched).isEmpty();
        walks.touch(children);
        assertThat(walks.touched).containsExactly(children);
    }

    @Test
    void a_request_costs_its_permits_beyond_the_reservation_or_does_not_fit() {
        ShareSettings acme = ShareSettings.EQUAL.withMaxInFlight(4).withGuaranteed(3, 3);
        change(TenantShares.EQUAL
                .withGroup("acme", Group.of(acme))
                .withMember(X, ShareSettings.EQUAL.withMaxInFlight(5), "acme"));
        SchedulingNode leaf = hierarchy.leafOf(request(null, 1));
        SchedulingNode group = leaf.parent();

        assertThat(cost(leaf, 2, leaf)).isEqualTo(2);
        assertThat(cost(leaf, 2, group)).as("reserved").isZero();
        assertThat(cost(leaf, 4, group)).as("one more").isOne();
        assertThat(cost(leaf, 5, leaf)).isEqualTo(5);
        assertThat(cost(leaf, 5, group)).as("no room there").isNegative();
        assertThat(cost(leaf, 6, leaf)).as("no room here").isNegative();
    }

    private static long cost(SchedulingNode leaf, int permits, SchedulingNode upTo) {
        QueuedRequest request = request(null, permits);
        request.leaf = leaf;
        return HierarchyWalks.cost(request, upTo);
    }
}
