package io.fairgate.fairness;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the claim to grant next: goes from the pool down, at each node to the child that comes first, until a leaf; the next
 * claim is the head of the leaf's queue.
 */
final class NextClaim {

    private final SharePath path;
    private final Predicate<Share> costsNothing = this::costsNothing;
    private final Predicate<Share> mayPass = this::mayPass;
    private final Predicate<Share> isPromised = this::isPromised;

    NextClaim(SharePath path) {
        this.path = path;
    }

    /** The claim to grant now, or null when none can be granted. Starts to collect for a claim that needs more than is free. */
    @Nullable
    QueuedRequest find() {
        while (true) {
            QueuedRequest claim = path.top.backlog.isEmpty() || path.isGivenAway() ? null : below(path.pool, path.top);
            Share lacking = claim == null ? null : path.lacking(claim, SharePath.leafOf(claim));
            if (claim == null || lacking == null) {
                return claim;
            }
            // A leaf that waits for its own cap does not compete, so a node that lacks room has children.
            Siblings siblings = lacking.below == null ? path.top : lacking.below;
            if (path.room(lacking) > 0 && !path.large.mayCollect(siblings, claim)) {
                path.large.stepAside(siblings, SharePath.leafOf(claim));
                continue;
            }
            if (lacking.isPool()) {
                path.large.collect(path.top, claim, path.available());
                return null;
            }
            // The claim waits for the cap of a group or of its tenant. That node does not compete now, the others do.
            path.blockAt(lacking, claim);
        }
    }

    /** When a group has free permits, but too few for each of its claims, collects them for the claim that is next there. */
    void collectWhereNothingFits() {
        for (Siblings siblings : path.touched()) {
            Share parent = siblings.parent();
            if (siblings.collected.claim == null
                    && !siblings.backlog.isEmpty()
                    && parent.room() > 0
                    && !parent.capAllows(siblings.backlog.leastCost())) {
                QueuedRequest claim = below(parent, siblings);
                if (path.large.mayCollect(siblings, claim)) {
                    path.large.collect(siblings, claim, parent.room());
                }
            }
        }
    }

    /** The next claim at or below a backlogged node. */
    private QueuedRequest at(Share node) {
        if (node.below != null) {
            return below(node, node.below);
        }
        QueuedRequest head = node.queue.head();
        if (head == null) {
            throw new IllegalStateException("a backlogged leaf has a waiting claim");
        }
        return head;
    }

    private QueuedRequest below(Share node, Siblings children) {
        path.tick(children);
        Share own = path.room(node) >= 0 ? children.firstWithinReservation(costsNothing) : null;
        if (own != null) {
            return at(own);
        }
        Share promised = promised(children);
        if (promised != null) {
            return at(promised);
        }
        if (children.collected.claim != null) {
            return children.collected.claim;
        }
        Share first = children.first();
        if (first == null) {
            throw new IllegalStateException("a backlogged node has backlogged children");
        }
        return at(first);
    }

    /**
     * Whether the next claim of the node costs the parent nothing, given that the smallest cost of a grant at the node is 0.
     * At a leaf that is the cost of the next claim; at a node with children it may be the cost of another claim.
     */
    private boolean costsNothing(Share node) {
        return node.isLeaf() || cost(node) == 0;
    }

    /** The first node whose next claim is within the node's guarantee as a whole; null when there is none. */
    private @Nullable Share promised(Siblings children) {
        Share first = children.backlog.mostUrgent();
        if (first == null || (children.collected.claim == null && isPromised(first))) {
            return first;
        }
        return children.backlog.mostUrgentOf(children.collected.claim == null ? isPromised : mayPass);
    }

    private boolean isPromised(Share node) {
        return node.isLeaf() || node.isPromised(at(node).permits());
    }

    private boolean mayPass(Share node) {
        QueuedRequest claim = at(node);
        long cost = SharePath.cost(claim, SharePath.leafOf(claim), node);
        return cost >= 0
                && cost <= path.room(node.parent())
                && node.isPromised(claim.permits())
                && node.mayPass(node.siblings().collected.number, claim.permits());
    }

    private long cost(Share node) {
        QueuedRequest claim = at(node);
        return SharePath.cost(claim, SharePath.leafOf(claim), node);
    }
}
