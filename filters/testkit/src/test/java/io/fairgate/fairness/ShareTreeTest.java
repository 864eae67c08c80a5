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
class ShareTreeTest {

    private static final TenantId X = TenantId.of("x");

    private final Siblings top = newSiblings();
    private final SharePath path = new SharePath(new Share(0, ShareSettings.EQUAL, true, top), top, 10, 0);
    private final ShareTree tree = new ShareTree(path, ShareTreeTest::newSiblings);

    private static Siblings newSiblings() {
        return new Siblings(new HeapBacklog(), new Gain(1, 0), 1_000_000_000L, 0);
    }

    private void change(TenantShares shares) {
        tree.change(shares, CalculatedCaps.of(null, 10));
        tree.settleAll();
    }

    private static QueuedRequest claim(@Nullable String requestClass, int permits) {
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
        tree.leafOf(claim("batch", 1));
        tree.leafOf(claim("page", 1));
        assertThat(tree.leaves()).extracting(leaf -> leaf.name).containsExactly("", "batch", "page");

        change(member.withClass("page", ShareSettings.EQUAL));
        assertThat(tree.leaves()).extracting(leaf -> leaf.name).containsExactly("", "page");
    }

    @Test
    void a_removed_group_has_no_node() {
        change(TenantShares.EQUAL
                .withGroup("outer", Group.of(ShareSettings.EQUAL))
                .withGroup("inner", new Group(ShareSettings.EQUAL, "outer"))
                .withMember(X, ShareSettings.EQUAL, "inner"));
        assertThat(tree.allSiblings()).hasSize(3);

        change(TenantShares.EQUAL.withMember(X, ShareSettings.EQUAL));
        assertThat(tree.allSiblings()).containsExactly(top);
    }

    @Test
    void each_touched_node_is_checked_once() {
        Siblings below = newSiblings();
        path.touch(below);
        path.touch(below);
        path.touch(top);
        assertThat(path.touched()).as("the top is always looked at").containsExactly(below);

        path.runOrStopClocks();
        assertThat(path.touched()).isEmpty();
        path.touch(below);
        assertThat(path.touched()).containsExactly(below);
    }

    @Test
    void a_claim_costs_its_permits_beyond_the_reservation_or_does_not_fit() {
        ShareSettings acme = ShareSettings.EQUAL.withMaxInFlight(4).withGuaranteed(3, 3);
        change(TenantShares.EQUAL
                .withGroup("acme", Group.of(acme))
                .withMember(X, ShareSettings.EQUAL.withMaxInFlight(5), "acme"));
        Share leaf = tree.leafOf(claim(null, 1));
        Share group = leaf.parent();

        assertThat(SharePath.cost(claim(null, 2), leaf, leaf)).isEqualTo(2);
        assertThat(SharePath.cost(claim(null, 2), leaf, group)).as("reserved").isZero();
        assertThat(SharePath.cost(claim(null, 4), leaf, group)).as("one more").isOne();
        assertThat(SharePath.cost(claim(null, 5), leaf, leaf)).isEqualTo(5);
        assertThat(SharePath.cost(claim(null, 5), leaf, group))
                .as("no room there")
                .isNegative();
        assertThat(SharePath.cost(claim(null, 6), leaf, leaf))
                .as("no room here")
                .isNegative();
    }
}
