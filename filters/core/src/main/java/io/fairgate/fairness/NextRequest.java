package io.fairgate.fairness;

import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the request to grant next: goes from the pool down, at each node to the child that comes first, until a leaf; the
 * next request is the head of the leaf's queue.
 */
final class NextRequest {

    private final HierarchyWalks walks;
    private final Predicate<SchedulingNode> costsNothing = this::costsNothing;
    private final Predicate<SchedulingNode> mayPass = this::mayPass;
    private final Predicate<SchedulingNode> isPromised = this::isPromised;

    NextRequest(HierarchyWalks walks) {
        this.walks = walks;
    }

    /** The request to grant now, or null. Starts to collect for a request that needs more permits than are free. */
    @Nullable
    QueuedRequest find() {
        while (true) {
            QueuedRequest request =
                    walks.top.runQueue.isEmpty() || walks.isGivenAway() ? null : nextBelow(walks.pool, walks.top);
            SchedulingNode lacking = request == null ? null : walks.lacking(request);
            if (request == null || lacking == null) {
                return request;
            }
            // A leaf that waits for its own cap does not compete, so a node that lacks room has children.
            SchedulingGroup children = Objects.requireNonNull(lacking.children);
            if (walks.room(lacking) > 0 && !walks.large.mayCollect(children, request)) {
                walks.large.stepAside(children, request.leaf());
            } else if (lacking.isPool()) {
                walks.large.collect(children, request, walks.available());
                return null;
            } else {
                // The request waits for the cap of a group or of its tenant. Only the others compete now.
                walks.blockAt(lacking, children, request);
            }
        }
    }

    /** Where a group has free permits, but too few for each of its requests, collects them for its next request. */
    void collectWhereNothingFits() {
        for (SchedulingGroup siblings : walks.touched) {
            SchedulingNode parent = siblings.parent();
            if (siblings.collected.request == null
                    && !siblings.runQueue.isEmpty()
                    && parent.room() > 0
                    && siblings.runQueue.leastCost() > parent.room()) {
                QueuedRequest request = nextBelow(parent, siblings);
                if (walks.large.mayCollect(siblings, request)) {
                    walks.large.collect(siblings, request, parent.room());
                }
            }
        }
    }

    /** The next request at or below a backlogged node. */
    private QueuedRequest nextAt(SchedulingNode node) {
        if (node.children != null) {
            return nextBelow(node, node.children);
        }
        return Objects.requireNonNull(node.queue.head(), "a backlogged leaf has a waiting request");
    }

    private QueuedRequest nextBelow(SchedulingNode node, SchedulingGroup children) {
        walks.tick(children);
        SchedulingNode own = walks.room(node) >= 0
                ? children.runQueue.firstWithinReservation(children.contendedNow, costsNothing)
                : null;
        if (own != null) {
            return nextAt(own);
        }
        SchedulingNode promised = promised(children);
        if (promised != null) {
            return nextAt(promised);
        }
        if (children.collected.request != null) {
            return children.collected.request;
        }
        SchedulingNode first = children.runQueue.first(children.contendedNow);
        return nextAt(Objects.requireNonNull(first, "a backlogged node has backlogged children"));
    }

    /**
     * Whether the next request of the node costs the parent nothing, given that the smallest cost of a grant at the
     * node is 0. At a leaf that is the cost of the next request; at another node it may be the cost of another request.
     */
    private boolean costsNothing(SchedulingNode node) {
        return node.children == null || HierarchyWalks.cost(nextAt(node), node) == 0;
    }

    /** The first node whose next request is within the node's guarantee as a whole; null when no node has such a request. */
    private @Nullable SchedulingNode promised(SchedulingGroup children) {
        SchedulingNode first = children.runQueue.mostUrgent();
        if (first == null || (children.collected.request == null && isPromised(first))) {
            return first;
        }
        return children.runQueue.mostUrgentOf(children.collected.request == null ? isPromised : mayPass);
    }

    private boolean isPromised(SchedulingNode node) {
        return node.children == null || node.isPromised(nextAt(node).permits());
    }

    private boolean mayPass(SchedulingNode node) {
        QueuedRequest request = nextAt(node);
        long cost = HierarchyWalks.cost(request, node);
        return cost >= 0
                && cost <= walks.room(node.parent())
                && node.isPromised(request.permits())
                && node.mayPass(node.siblings().collected.number, request.permits());
    }
}
