package io.fairgate.fairness;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the claim to grant next: from the pool down, at each node the child that comes first, until a leaf, whose queue
 * says who it is.
 */
final class NextClaim {

    private final SharePath path;
    private final Predicate<Share> costsNothing = this::costsNothing;
    private final Predicate<Share> mayPass = this::mayPass;
    private final Predicate<Share> isPromised = this::isPromised;

    NextClaim(SharePath path) {
        this.path = path;
    }

    /** The claim to grant now, or null when none can be; keeps permits for one that needs more than are free. */
    @Nullable
    Claim find() {
        while (true) {
            Claim claim = path.top.backlog.isEmpty() || path.isGivenAway() ? null : below(path.pool, path.top);
            Share lacking = claim == null ? null : path.lacking(claim, SharePath.leafOf(claim));
            if (claim == null || lacking == null) {
                return claim;
            }
            // A leaf that its own cap keeps back does not compete, so what lacks room has others below it.
            Siblings siblings = lacking.below == null ? path.top : lacking.below;
            if (path.room(lacking) > 0 && !path.large.mayCollect(siblings, claim)) {
                path.large.stepAside(siblings, SharePath.leafOf(claim));
                continue;
            }
            if (lacking.isPool()) {
                path.large.collect(path.top, claim, path.available());
                return null;
            }
            // It waits for the cap of a group, or of its tenant; that group does not compete now, others do.
            path.blockAt(lacking, claim);
        }
    }

    /** Permits that are free in a group, and too few for every claim there, are kept for the one that is next. */
    void collectWhereNothingFits() {
        for (Siblings siblings : path.touched()) {
            Share parent = siblings.parent();
            if (siblings.collected.claim == null
                    && !siblings.backlog.isEmpty()
                    && parent.room() > 0
                    && !parent.capAllows(siblings.backlog.leastCost())) {
                Claim claim = below(parent, siblings);
                if (path.large.mayCollect(siblings, claim)) {
                    path.large.collect(siblings, claim, parent.room());
                }
            }
        }
    }

    /** Who is next at a node that is backlogged. */
    private Claim at(Share node) {
        if (node.below != null) {
            return below(node, node.below);
        }
        Claim head = node.queue.head();
        if (head == null) {
            throw new IllegalStateException("a backlogged leaf has a waiting claim");
        }
        return head;
    }

    private Claim below(Share node, Siblings children) {
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

    /** Who costs nothing at a leaf costs nothing above; of a node only whom it would choose itself counts. */
    private boolean costsNothing(Share node) {
        return node.isLeaf() || cost(node) == 0;
    }

    /** The first of those whose next claim is within its guarantee as a whole. */
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
        Claim claim = at(node);
        long cost = SharePath.cost(claim, SharePath.leafOf(claim), node);
        return cost >= 0
                && cost <= path.room(node.parent())
                && node.isPromised(claim.permits())
                && node.mayPass(node.siblings().collected.number, claim.permits());
    }

    private long cost(Share node) {
        Claim claim = at(node);
        return SharePath.cost(claim, SharePath.leafOf(claim), node);
    }
}
