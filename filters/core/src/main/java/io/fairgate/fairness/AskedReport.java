package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Makes {@link AskedPermits} from the scheduler's state. */
final class AskedReport {

    private final HierarchyWalks walks;
    private final Map<TenantId, Double> behindLarge = new HashMap<>();
    private long largest;

    AskedReport(HierarchyWalks walks) {
        this.walks = walks;
    }

    /** @param asked the permits that each tenant holds and waits for */
    AskedPermits make(Map<TenantId, Double> asked) {
        addAllBelow(walks.top);
        behindLarge.replaceAll((tenant, behind) -> Math.min(behind, asked.getOrDefault(tenant, 0.0)));
        return new AskedPermits(asked, behindLarge, (int) largest);
    }

    private void addAllBelow(SchedulingGroup siblings) {
        for (SchedulingNode node : siblings.present.inOrder()) {
            if (node.children == null) {
                add(node);
            } else {
                addAllBelow(node.children);
            }
        }
    }

    private void add(SchedulingNode leaf) {
        QueuedRequest head = leaf.queue.head();
        if (head == null || (!leaf.isAside && waitsForCap(head))) {
            return;
        }
        long cost = HierarchyWalks.costToPool(head);
        if (leaf.isAside || cost > walks.mostAtOnce()) {
            behindLarge.merge(tenantOf(leaf), (double) leaf.queue.permits(), Double::sum);
        }
        // A collection has shown that some permits here do not come back soon.
        if (cost <= walks.permits - walks.top.collected.stillHeld) {
            largest = Math.max(largest, cost);
        }
    }

    private boolean waitsForCap(QueuedRequest head) {
        return HierarchyWalks.cost(head, HierarchyWalks.childOn(head, walks.top)) < 0;
    }

    private static TenantId tenantOf(SchedulingNode leaf) {
        SchedulingNode tenant = leaf.tenant == null ? leaf.parent() : leaf;
        return Objects.requireNonNull(tenant.tenant);
    }
}
