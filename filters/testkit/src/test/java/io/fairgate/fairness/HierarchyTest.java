package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.CalculatedCaps;
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
    private final HierarchyWalks walks = new HierarchyWalks(new SchedulingNode(0, ShareSettings.EQUAL, true, top), top, 10, 0);
    private final Hierarchy hierarchy = new Hierarchy(walks, HierarchyTest::newGroup);

    private static SchedulingGroup newGroup() {
        return new SchedulingGroup(new HeapRunQueue(), new Gain(1, 0), 1_000_000_000L, 0);
    }

    private void change(TenantShares shares) {
        hierarchy.change(shares, CalculatedCaps.of(null, 10));
        hierarchy.updateAllRunQueues();
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
        assertThat(walks.touched()).as("the top is always looked at").containsExactly(children);

        walks.runOrStopClocks();
        assertThat(walks.touched()).isEmpty();
        walks.touch(children);
        assertThat(walks.touched()).containsExactly(children);
    }

    @Test
    void a_claim_costs_its_permits_beyond_the_reservation_or_does_not_fit() {
        ShareSettings acme = ShareSettings.EQUAL.withMaxInFlight(4).withGuaranteed(3, 3);
        change(TenantShares.EQUAL
                .withGroup("acme", Group.of(acme))
                .withMember(X, ShareSettings.EQUAL.withMaxInFlight(5), "acme"));
        SchedulingNode leaf = hierarchy.leafOf(request(null, 1));
        SchedulingNode group = leaf.parent();

        assertThat(HierarchyWalks.cost(request(null, 2), leaf, leaf)).isEqualTo(2);
        assertThat(HierarchyWalks.cost(request(null, 2), leaf, group)).as("reserved").isZero();
        assertThat(HierarchyWalks.cost(request(null, 4), leaf, group)).as("one more").isOne();
        assertThat(HierarchyWalks.cost(request(null, 5), leaf, leaf)).isEqualTo(5);
        assertThat(HierarchyWalks.cost(request(null, 5), leaf, group))
                .as("no room there")
                .isNegative();
        assertThat(HierarchyWalks.cost(request(null, 6), leaf, leaf))
                .as("no room here")
                .isNegative();
    }
}
