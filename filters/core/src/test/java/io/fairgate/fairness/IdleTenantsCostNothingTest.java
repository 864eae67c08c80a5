package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No step looks at an idle tenant without a debt, however many tenants are configured. Here such tenants are unreadable, so that
 * a step that looks at one of them fails. All results are those of a pool with only the active tenants.
 */
class IdleTenantsCostNothingTest {

    private static final int MEMBERS = 20_000;
    private static final int ACTIVE = 20;
    private static final int PERMITS = 8;
    private static final int MOST_WAITING = 30;
    private static final ShareSettings WEIGHTED = ShareSettings.ofWeight(0.7);

    private enum Shape {
        FLAT,
        GROUPS,
        CLASSES,
        CALCULATED_CAPS;

        TenantShares shares(int members) {
            TenantShares shares = this == GROUPS
                    ? TenantShares.EQUAL
                            .withGroup("outer", Group.of(WEIGHTED))
                            .withGroup("inner", new Group(WEIGHTED.withMaxInFlight(5), "outer"))
                    : this == CLASSES ? TenantShares.EQUAL.withClass("batch", WEIGHTED) : TenantShares.EQUAL;
            var settings = new LinkedHashMap<>(shares.members());
            var parents = new LinkedHashMap<>(shares.groups().parents());
            for (int i = 0; i < members; i++) {
                settings.put(tenant(i), i % 3 == 0 ? WEIGHTED : ShareSettings.EQUAL);
                if (this == GROUPS && i % 2 == 0) {
                    parents.put(tenant(i), "inner");
                }
            }
            return new TenantShares(
                    settings,
                    ShareSettings.EQUAL,
                    new ShareGroups(shares.groups().byName(), parents),
                    shares.classes(),
                    this == CALCULATED_CAPS ? (permits, active) -> Math.max(1, permits / active) : null);
        }
    }

    private static TenantId tenant(int i) {
        return TenantId.of("t" + i);
    }

    private static final class Ask extends QueuedRequest {
        Ask(int tenant, boolean ofClass) {
            super(IdleTenantsCostNothingTest.tenant(tenant), ofClass ? "batch" : null, 1 + tenant % 2);
        }

        @Override
        protected boolean accept() {
            return true;
        }
    }

    /** Without settings and without a way up to the pool; any check whether it can be forgotten says yes. */
    @SuppressWarnings("NullAway") // to make it unreadable
    private static void makeUnreadable(SchedulingNode node) {
        node.settings = null;
        node.siblings = new SchedulingGroup(new HeapRunQueue(), new Gain(1, 0), 0);
        node.configured = false;
    }

    private static Hierarchy hierarchy(FairScheduler scheduler) throws ReflectiveOperationException {
        Field hierarchy = FairScheduler.class.getDeclaredField("hierarchy");
        hierarchy.setAccessible(true);
        return (Hierarchy) hierarchy.get(scheduler);
    }

    private static FairScheduler scheduler(Shape shape, int members) throws ReflectiveOperationException {
        FairScheduler scheduler = new FairScheduler(PERMITS, shape.shares(members), FairnessSettings.USUAL, 0);
        int i = 0;
        for (SchedulingNode node : hierarchy(scheduler).tenants.values()) {
            if (i++ >= ACTIVE) {
                makeUnreadable(node);
            }
        }
        return scheduler;
    }

    @ParameterizedTest
    @EnumSource
    void twenty_active_of_twenty_thousand_members_behave_as_if_alone(Shape shape) throws ReflectiveOperationException {
        FairScheduler many = scheduler(shape, MEMBERS);
        assertThat(life(many, shape)).isEqualTo(life(scheduler(shape, ACTIVE), shape));
        assertThat(hierarchy(many).tenants.values()).hasSize(MEMBERS);
    }

    /** Full and overflowing queues, grants, the status of the pool and of each tenant, and the refusal of all at the end. */
    private static List<String> life(FairScheduler scheduler, Shape shape) {
        List<String> seen = new ArrayList<>();
        List<QueuedRequest> holding = new ArrayList<>();
        long now = 0;
        for (int step = 0; step < 2_000; step++) {
            now += 1_000_000L * (step % 7);
            scheduler.enqueue(new Ask(step * step % ACTIVE, shape == Shape.CLASSES && step % 3 == 0), now);
            if (step % 2 == 0 && !holding.isEmpty()) {
                scheduler.release(holding.remove(0), now);
            }
            scheduler.grant(now, request -> {
                seen.add("granted " + request.tenant());
                holding.add(request);
            });
            refuse(scheduler, MOST_WAITING, now, seen);
            if (step % 50 == 0) {
                seen.add(scheduler.present(now).toString());
                seen.add(scheduler.standing(tenant(step / 50 % ACTIVE), now).toString());
            }
        }
        refuse(scheduler, 0, now, seen);
        for (QueuedRequest request : holding) {
            scheduler.release(request, now);
        }
        scheduler.grant(now, request -> {});
        seen.add(scheduler.totals().toString());
        return seen;
    }

    private static void refuse(FairScheduler scheduler, int most, long now, List<String> seen) {
        for (QueuedRequest over = scheduler.overPoolBound(most); over != null; over = scheduler.overPoolBound(most)) {
            seen.add("refused " + over.tenant());
            scheduler.cancel(over, now);
        }
    }

    @Test
    void an_unreadable_tenant_fails_the_test() throws ReflectiveOperationException {
        FairScheduler scheduler = scheduler(Shape.FLAT, ACTIVE + 1);
        assertThatThrownBy(() -> scheduler.status(0)).isInstanceOf(RuntimeException.class);
    }
}
