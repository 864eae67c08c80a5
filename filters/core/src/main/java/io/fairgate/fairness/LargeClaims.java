package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps free permits for the next claim when it needs more than are free, so that small claims do not starve it, and lets
 * its tenant pay for that.
 *
 * <p><b>What is collected counts as held.</b> The permits that idle for a claim count in the accounts of its tenant and of
 * the groups around it, whether it is granted in the end, cancelled or refused. So they are paid by the tenant that they
 * idle for, and the others lose nothing of their shares.
 *
 * <p><b>A collection ends without a grant</b> when the claim is taken out, and when others have waited meanwhile for so long
 * that the idle permits have used up a budget, at first two mean holds of what the claim asks for and twice as much with
 * each failure of this claim, or when they have waited for {@link FairnessSettings#maxCollect}. It then has cost at least
 * what it idled, counted from the level of the others: what its tenant was behind is not for idling. The permits go to the others at once.
 *
 * <p><b>The next collection</b> waits for what one that took too long has waited for. The permits that were in flight at its
 * end are noted. A claim that would not fit beside those of them that have not come back steps aside: permits would idle for
 * it, and it would not be granted. It competes again when enough of them have come back, and then by its key. While no other
 * claim competes, permits are kept for the claim that stepped aside first, and go to the next claim that competes at once.
 * A collection whose claim was taken out has shown nothing about the permits in flight. If they were noted then too, a tenant
 * whose claims are cancelled again and again would keep the large claims of all others aside.
 *
 * <p>For a claim that fits within a guarantee as a whole permits are kept for as long as it takes.
 */
final class LargeClaims {

    /** A time that does not come. */
    static final long NEVER = Long.MAX_VALUE;

    /** Budgets double up to here, which is beyond any wait. */
    private static final int MOST_DOUBLINGS = 30;
    /** The first budget is for holds of at least this mean: no timer is finer. */
    private static final double SHORTEST_MEAN_HOLD = 1e6;

    private final SharePath path;
    /** Where permits are collected, a leaf is aside, or something is still held that a collection waited for. */
    private final Set<Siblings> watched = new LinkedHashSet<>();

    LargeClaims(SharePath path) {
        this.path = path;
    }

    /** Whether there are no large claims to take care of, as nearly always: then most of the following does nothing. */
    boolean isIdle() {
        return watched.isEmpty();
    }

    // ---- before permits are handed out ----

    /** Ends the collections that have taken too long. */
    void endWhatTakesTooLong() {
        for (Siblings siblings : List.copyOf(watched)) {
            path.tick(siblings);
            Claim claim = siblings.collected.claim;
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

    /** In permit-nanoseconds. */
    private static double budget(Siblings siblings, Claim claim) {
        double meanHold = Math.max(SHORTEST_MEAN_HOLD, siblings.gain.meanHoldNanos());
        return 2 * meanHold * claim.permits() * (1L << Math.min(claim.failedCollections, MOST_DOUBLINGS));
    }

    /** Whether permits are kept for the claim only for some time: what is guaranteed has no limit. */
    private static boolean isLimited(Siblings siblings, Claim claim) {
        return !SharePath.childOn(claim, siblings).isPromised(claim.permits());
    }

    // ---- while permits are handed out ----

    /** Whether permits may be kept among the siblings, or kept on, for the claim that is next and needs more than are free. */
    boolean mayCollect(Siblings siblings, Claim claim) {
        return siblings.collected.stillHeld() == 0
                || !isLimited(siblings, claim)
                || fitsBesideWhatIsStillHeld(siblings, claim)
                || !othersCompete(siblings, claim);
    }

    private boolean fitsBesideWhatIsStillHeld(Siblings siblings, Claim claim) {
        Share parent = siblings.parent();
        long cost = SharePath.cost(claim, SharePath.leafOf(claim), SharePath.childOn(claim, siblings));
        return cost <= path.room(parent) + parent.inFlight - siblings.collected.stillHeld();
    }

    /** Keeps what is free for the claim, if something is and is not kept for another. */
    void collect(Siblings siblings, Claim claim, long room) {
        if (siblings.collected.claim == null && room > 0) {
            siblings.collected.start(claim);
            watched.add(siblings);
        }
    }

    /** The leaf does not compete until {@link #comeBack}. */
    void stepAside(Siblings siblings, Share leaf) {
        leaf.isAside = true;
        siblings.collected.aside.add(leaf);
        watched.add(siblings);
        path.tickUpFrom(leaf);
        path.settle(leaf);
    }

    /** Nothing competes among these siblings: lets one that is aside compete again; returns whether there was one. */
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

    // ---- after permits were handed out ----

    /** What is free now counts as held by the claims that it is kept for; notes whether others wait for it. */
    void charge() {
        for (Siblings siblings : watched) {
            path.tick(siblings);
            Claim claim = siblings.collected.claim;
            if (claim != null) {
                siblings.collected.noteOthers(othersCompete(siblings, claim));
                Share lacking = path.lacking(claim, SharePath.leafOf(claim));
                long kept = lacking == siblings.parent() ? path.room(lacking) : 0;
                setPermits(siblings, claim, (int) Math.max(0, Math.min(kept, claim.permits())));
            }
        }
    }

    private void setPermits(Siblings siblings, Claim claim, int permits) {
        int more = permits - siblings.collected.permits;
        siblings.collected.permits = permits;
        if (more != 0) {
            path.changeCollected(SharePath.leafOf(claim), siblings, more);
        }
    }

    /** When a collection has taken too long though nothing else happens, in nanoseconds of the clock. */
    long nextEnd() {
        long next = NEVER;
        for (Siblings siblings : watched) {
            CollectedPermits collected = siblings.collected;
            Claim claim = collected.claim;
            if (claim != null && collected.othersWait() && isLimited(siblings, claim)) {
                double untilBudget = (budget(siblings, claim) - collected.idled()) / Math.max(1, collected.permits);
                double untilTime = (double) path.maxCollect - collected.othersWaited();
                next = Math.min(next, path.now() + (long) Math.ceil(Math.max(0, Math.min(untilBudget, untilTime))));
            }
        }
        return next;
    }

    // ---- what ends a collection ----

    /** The claim is granted: what was kept for it is now its own. */
    void granted(Claim claim) {
        for (Siblings siblings : List.copyOf(watched)) {
            if (siblings.collected.claim == claim) {
                stop(siblings, claim);
            }
        }
    }

    /** The claim leaves its queue without a grant. */
    void left(Claim claim) {
        for (Siblings siblings : List.copyOf(watched)) {
            if (siblings.collected.claim == claim) {
                fail(siblings, claim);
            }
        }
    }

    /** Nothing below the node can be granted for now, so nothing is kept for it beside its siblings and further up. */
    void blocked(Share node) {
        for (Share at = node; !at.isPool(); at = at.parent()) {
            Claim claim = at.siblings().collected.claim;
            if (claim != null && SharePath.isBelow(SharePath.leafOf(claim), node)) {
                fail(at.siblings(), claim);
            }
        }
    }

    private void fail(Siblings siblings, Claim claim) {
        CollectedPermits collected = siblings.collected;
        path.tick(siblings);
        stop(siblings, claim);
        if (collected.othersWaited() > 0) {
            path.chargeFromLevelOfOthers(SharePath.leafOf(claim), siblings, Math.round(collected.idled()));
        }
    }

    private void stop(Siblings siblings, Claim claim) {
        setPermits(siblings, claim, 0);
        siblings.collected.claim = null;
        siblings.collected.noteOthers(false);
    }

    // ---- what brings back a leaf that is aside ----

    /** Something has happened to the claims of the leaf itself: it competes again, once its nodes are settled. */
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

    /** Permits have come back below the leaf's nodes: lets those compete again that now fit beside what is still held. */
    void released(Claim claim, Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            Siblings siblings = node.siblings();
            CollectedPermits collected = siblings.collected;
            if (collected.cameBack(claim.grant, claim.permits()) || keepsAnything(siblings)) {
                List.copyOf(collected.aside).forEach(other -> comeBackIfItFits(siblings, other));
            }
        }
    }

    /** With reservations, what a claim costs depends on what its tenant holds. */
    private static boolean keepsAnything(Siblings siblings) {
        return siblings.reserved > 0;
    }

    private void comeBackIfItFits(Siblings siblings, Share leaf) {
        Claim head = leaf.queue.head();
        if (head == null || fitsBesideWhatIsStillHeld(siblings, head)) {
            comeBackNow(leaf);
        }
    }

    // ---- others ----

    /** Whether a claim competes beside this one, at a node where the permits that are kept could go to it. */
    private static boolean othersCompete(Siblings siblings, Claim claim) {
        for (Share node = SharePath.leafOf(claim); ; node = node.parent()) {
            if (node.siblings().backlog.size() > 1) {
                return true;
            }
            if (node.siblings() == siblings) {
                return false;
            }
        }
    }

    /** What every tenant may claim is changing: every claim competes anew. */
    void forget() {
        for (Siblings siblings : watched) {
            Claim claim = siblings.collected.claim;
            if (claim != null) {
                path.tick(siblings);
                stop(siblings, claim);
            }
            siblings.collected.forget();
        }
        watched.clear();
    }
}
