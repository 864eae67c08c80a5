package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Collects free permits for the next claim when it needs more than are free, so that small claims do not starve it, and
 * charges its tenant for them.
 *
 * <p><b>Collected permits count as held.</b> The permits that idle for a claim count in the accounts of its tenant and of
 * the groups around it, whether it is granted in the end, cancelled or refused. So the tenant that they idle for pays for
 * them, and the others lose nothing of their shares.
 *
 * <p><b>A collection ends without a grant</b> when the claim leaves its queue, or when others have waited meanwhile for so
 * long that the idle permits have used up a budget, or when others have waited for {@link FairnessSettings#maxCollect}. The
 * budget is at first two mean holds of the permits that the claim asks for, and twice as much after each failed collection
 * of this claim. The tenant is then charged at least what the permits idled, counted from the virtual time of the others:
 * what the tenant was behind does not pay for it. The permits go to the others at once.
 *
 * <p><b>The next collection</b> waits for the holds that the last one waited for when it took too long. The permits that were
 * in flight at its end are noted. A claim that would not fit beside those of them that are still held steps aside: permits
 * would idle for it, and it would not be granted. It competes again, by its key, when enough of them have been released.
 * While no other claim competes, permits are collected for the claim that stepped aside first, and go to the next claim that
 * competes at once. A collection whose claim left its queue has shown nothing about the permits in flight. If these were
 * noted then too, a tenant whose claims are cancelled again and again would keep the large claims of all others aside.
 *
 * <p>For a claim that fits within a guarantee as a whole, permits are collected for as long as it takes.
 */
final class LargeClaims {

    /** No time. */
    static final long NEVER = Long.MAX_VALUE;

    /** The most doublings of a budget: beyond any wait. */
    private static final int MOST_DOUBLINGS = 30;
    /** The smallest mean hold of a budget, 1 ms in nanoseconds: no timer is finer. */
    private static final double SHORTEST_MEAN_HOLD = 1e6;

    private final SharePath path;
    /** Siblings that collect, have a leaf aside, or wait for holds that a collection has waited for in vain. */
    private final Set<Siblings> watched = new LinkedHashSet<>();

    LargeClaims(SharePath path) {
        this.path = path;
    }

    /** Whether nothing is collected and no leaf is aside, as nearly always: then most of the methods below do nothing. */
    boolean isIdle() {
        return watched.isEmpty();
    }

    // ---- before the grants ----

    /** Ends the collections that have taken too long. */
    void endWhatTakesTooLong() {
        for (Siblings siblings : List.copyOf(watched)) {
            path.tick(siblings);
            QueuedRequest claim = siblings.collected.claim;
            if (claim != null && isLimited(siblings, claim) && isUsedUp(siblings.collected, budget(siblings, claim))) {
                claim.failedCollections++;
                fail(siblings, claim);
                siblings.collected.tookTooLong(siblings.parent().inFlight, path.lastGrant());
                path.tickUpFrom(SharePath.leafOf(claim));
                path.settle(SharePath.leafOf(claim));
            }
            if (siblings.collected.isOver()) {
                watched.remove(siblings);
            }
        }
    }

    private boolean isUsedUp(CollectedPermits collected, double budget) {
        return collected.idled() >= budget || collected.othersWaited() >= path.maxCollect;
    }

    /** The budget of a collection, in permit-nanoseconds. */
    private static double budget(Siblings siblings, QueuedRequest claim) {
        double meanHold = Math.max(SHORTEST_MEAN_HOLD, siblings.gain.meanHoldNanos());
        return 2 * meanHold * claim.permits() * (1L << Math.min(claim.failedCollections, MOST_DOUBLINGS));
    }

    /** Whether the collection for the claim has a limit: one for a claim within a guarantee has none. */
    private static boolean isLimited(Siblings siblings, QueuedRequest claim) {
        return !SharePath.childOn(claim, siblings).isPromised(claim.permits());
    }

    // ---- during the grants ----

    /** Whether these siblings may collect, or continue to collect, for the next claim, which needs more than is free. */
    boolean mayCollect(Siblings siblings, QueuedRequest claim) {
        return siblings.collected.stillHeld() == 0
                || !isLimited(siblings, claim)
                || fitsBesideWhatIsStillHeld(siblings, claim)
                || !othersCompete(siblings, claim);
    }

    private boolean fitsBesideWhatIsStillHeld(Siblings siblings, QueuedRequest claim) {
        Share parent = siblings.parent();
        long cost = SharePath.cost(claim, SharePath.leafOf(claim), SharePath.childOn(claim, siblings));
        return cost <= path.room(parent) + parent.inFlight - siblings.collected.stillHeld();
    }

    /** Starts a collection for the claim, if permits are free and are not collected for another claim. */
    void collect(Siblings siblings, QueuedRequest claim, long room) {
        if (siblings.collected.claim == null && room > 0) {
            siblings.collected.start(claim);
            watched.add(siblings);
        }
    }

    /** Sets the leaf aside: it does not compete until {@link #comeBack}. */
    void stepAside(Siblings siblings, Share leaf) {
        leaf.isAside = true;
        siblings.collected.aside.add(leaf);
        watched.add(siblings);
        path.tickUpFrom(leaf);
        path.settle(leaf);
    }

    /** Where nothing competes and permits are free, lets one leaf that is aside compete again; returns whether it did. */
    boolean bringBackOne() {
        for (Siblings siblings : watched) {
            if (siblings.backlog.isEmpty() && path.room(siblings.parent()) > 0) {
                for (Share leaf : siblings.collected.aside) {
                    comeBackNow(leaf);
                    return true;
                }
            }
        }
        return false;
    }

    // ---- after the grants ----

    /** Counts the permits that are free now as collected, for the claims that collect; notes whether others wait for them. */
    void charge() {
        for (Siblings siblings : watched) {
            path.tick(siblings);
            QueuedRequest claim = siblings.collected.claim;
            if (claim != null) {
                siblings.collected.noteOthers(othersCompete(siblings, claim));
                Share lacking = path.lacking(claim, SharePath.leafOf(claim));
                long kept = lacking == siblings.parent() ? path.room(lacking) : 0;
                setPermits(siblings, claim, (int) Math.max(0, Math.min(kept, claim.permits())));
            }
        }
    }

    private void setPermits(Siblings siblings, QueuedRequest claim, int permits) {
        int more = permits - siblings.collected.permits;
        siblings.collected.permits = permits;
        if (more != 0) {
            path.changeCollected(SharePath.leafOf(claim), siblings, more);
        }
    }

    /** The earliest time at which a collection will have taken too long, in nanoseconds of the clock, or {@link #NEVER}. */
    long nextEnd() {
        long next = NEVER;
        for (Siblings siblings : watched) {
            CollectedPermits collected = siblings.collected;
            QueuedRequest claim = collected.claim;
            if (claim != null && collected.othersWait() && isLimited(siblings, claim)) {
                double untilBudget = (budget(siblings, claim) - collected.idled()) / Math.max(1, collected.permits);
                double untilTime = (double) path.maxCollect - collected.othersWaited();
                next = Math.min(next, path.now() + (long) Math.ceil(Math.max(0, Math.min(untilBudget, untilTime))));
            }
        }
        return next;
    }

    // ---- the end of a collection ----

    /** The claim is granted: ends its collections. */
    void granted(QueuedRequest claim) {
        for (Siblings siblings : List.copyOf(watched)) {
            if (siblings.collected.claim == claim) {
                stop(siblings, claim);
            }
        }
    }

    /** The claim leaves its queue without a grant: its collections have failed. */
    void left(QueuedRequest claim) {
        for (Siblings siblings : List.copyOf(watched)) {
            if (siblings.collected.claim == claim) {
                fail(siblings, claim);
            }
        }
    }

    /** Nothing below the node can be granted for now: ends the collections for its claims among its siblings and above. */
    void blocked(Share node) {
        for (Share at = node; !at.isPool(); at = at.parent()) {
            QueuedRequest claim = at.siblings().collected.claim;
            if (claim != null && SharePath.isBelow(SharePath.leafOf(claim), node)) {
                fail(at.siblings(), claim);
            }
        }
    }

    private void fail(Siblings siblings, QueuedRequest claim) {
        CollectedPermits collected = siblings.collected;
        path.tick(siblings);
        stop(siblings, claim);
        if (collected.othersWaited() > 0) {
            path.chargeFromLevelOfOthers(SharePath.leafOf(claim), siblings, Math.round(collected.idled()));
        }
    }

    private void stop(Siblings siblings, QueuedRequest claim) {
        setPermits(siblings, claim, 0);
        siblings.collected.claim = null;
        siblings.collected.noteOthers(false);
    }

    // ---- leaves that are aside ----

    /** The claims of the leaf itself have changed: it competes again, once the nodes above it are settled. */
    void comeBack(Share leaf) {
        if (leaf.isAside) {
            leaf.isAside = false;
            watched.forEach(siblings -> siblings.collected.aside.remove(leaf));
        }
    }

    private void comeBackNow(Share leaf) {
        comeBack(leaf);
        path.tickUpFrom(leaf);
        path.settle(leaf);
    }

    /** The claim has released its permits: lets leaves compete again whose first claim now fits beside what is still held. */
    void released(QueuedRequest claim, Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            Siblings siblings = node.siblings();
            CollectedPermits collected = siblings.collected;
            if (collected.cameBack(claim.grant, claim.permits()) || keepsAnything(siblings)) {
                List.copyOf(collected.aside).forEach(other -> comeBackIfItFits(siblings, other));
            }
        }
    }

    /** Whether there are reservations: then the cost of a claim depends on what its tenant holds. */
    private static boolean keepsAnything(Siblings siblings) {
        return siblings.reserved > 0;
    }

    private void comeBackIfItFits(Siblings siblings, Share leaf) {
        QueuedRequest head = leaf.queue.head();
        if (head == null || fitsBesideWhatIsStillHeld(siblings, head)) {
            comeBackNow(leaf);
        }
    }

    // ---- other claims ----

    /** Whether another claim competes with this one, at a node where it could get the collected permits. */
    private static boolean othersCompete(Siblings siblings, QueuedRequest claim) {
        for (Share node = SharePath.leafOf(claim); ; node = node.parent()) {
            if (node.siblings().backlog.size() > 1) {
                return true;
            }
            if (node.siblings() == siblings) {
                return false;
            }
        }
    }

    /** Ends all collections and forgets the past ones, because the settings change: every claim competes anew. */
    void forget() {
        for (Siblings siblings : watched) {
            QueuedRequest claim = siblings.collected.claim;
            if (claim != null) {
                path.tick(siblings);
                stop(siblings, claim);
            }
            siblings.collected.forget();
        }
        watched.clear();
    }
}
