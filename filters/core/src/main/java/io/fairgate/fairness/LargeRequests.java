package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Collects free permits for the next request when it needs more than are free, so that small requests do not starve it, and
 * charges its tenant for them.
 *
 * <p><b>Collected permits count as held.</b> The permits that idle for a request count in the accounts of its tenant and of
 * the groups around it, whether it is granted in the end, cancelled or refused. So the tenant that they idle for pays for
 * them, and the others lose nothing of their shares.
 *
 * <p><b>A collection ends without a grant</b> when the request leaves its queue, or when others have waited meanwhile for so
 * long that the idle permits have used up a budget, or when others have waited for {@link FairnessSettings#maxCollect}. The
 * budget is at first two mean holds of the permits that the request asks for, and twice as much after each failed collection
 * of this request. The tenant is then charged at least what the permits idled, counted from the virtual time of the others:
 * what the tenant was behind does not pay for it. The permits go to the others at once.
 *
 * <p><b>The next collection</b> waits for the holds that the last one waited for when it took too long. The permits that were
 * in flight at its end are noted. A request that would not fit beside those of them that are still held steps aside: permits
 * would idle for it, and it would not be granted. It competes again, by its key, when enough of them have been released.
 * While no other request competes, permits are collected for the request that stepped aside first, and go to the next request that
 * competes at once. A collection whose request left its queue has shown nothing about the permits in flight. If these were
 * noted then too, a tenant whose requests are cancelled again and again would keep the large requests of all others aside.
 *
 * <p>For a request that fits within a guarantee as a whole, permits are collected for as long as it takes.
 */
final class LargeRequests {

    /** No time. */
    static final long NEVER = Long.MAX_VALUE;

    /** The most doublings of a budget: beyond any wait. */
    private static final int MOST_DOUBLINGS = 30;
    /** The smallest mean hold of a budget, 1 ms in nanoseconds: no timer is finer. */
    private static final double SHORTEST_MEAN_HOLD = 1e6;

    private final HierarchyWalks walks;
    /** Siblings that collect, have a leaf aside, or wait for holds that a collection has waited for in vain. */
    private final Set<SchedulingGroup> watched = new LinkedHashSet<>();

    LargeRequests(HierarchyWalks walks) {
        this.walks = walks;
    }

    /** Whether nothing is collected and no leaf is aside, as nearly always: then most of the methods below do nothing. */
    boolean isIdle() {
        return watched.isEmpty();
    }

    // ---- before the grants ----

    /** Ends the collections that have taken too long. */
    void endWhatTakesTooLong() {
        for (SchedulingGroup siblings : List.copyOf(watched)) {
            walks.tick(siblings);
            QueuedRequest request = siblings.collected.request;
            if (request != null && isLimited(siblings, request) && isUsedUp(siblings.collected, budget(siblings, request))) {
                request.failedCollections++;
                fail(siblings, request);
                siblings.collected.tookTooLong(siblings.parent().inFlight, walks.lastGrant());
                walks.tickUpFrom(HierarchyWalks.leafOf(request));
                walks.updateRunQueues(HierarchyWalks.leafOf(request));
            }
            if (siblings.collected.isOver()) {
                watched.remove(siblings);
            }
        }
    }

    private boolean isUsedUp(CollectedPermits collected, double budget) {
        return collected.idled() >= budget || collected.othersWaited() >= walks.maxCollect;
    }

    /** The budget of a collection, in permit-nanoseconds. */
    private static double budget(SchedulingGroup siblings, QueuedRequest request) {
        double meanHold = Math.max(SHORTEST_MEAN_HOLD, siblings.gain.meanHoldNanos());
        return 2 * meanHold * request.permits() * (1L << Math.min(request.failedCollections, MOST_DOUBLINGS));
    }

    /** Whether the collection for the request has a limit: one for a request within a guarantee has none. */
    private static boolean isLimited(SchedulingGroup siblings, QueuedRequest request) {
        return !HierarchyWalks.childOn(request, siblings).isPromised(request.permits());
    }

    // ---- during the grants ----

    /** Whether these siblings may collect, or continue to collect, for the next request, which needs more than is free. */
    boolean mayCollect(SchedulingGroup siblings, QueuedRequest request) {
        return siblings.collected.stillHeld() == 0
                || !isLimited(siblings, request)
                || fitsBesideWhatIsStillHeld(siblings, request)
                || !othersCompete(siblings, request);
    }

    private boolean fitsBesideWhatIsStillHeld(SchedulingGroup siblings, QueuedRequest request) {
        SchedulingNode parent = siblings.parent();
        long cost = HierarchyWalks.cost(request, HierarchyWalks.leafOf(request), HierarchyWalks.childOn(request, siblings));
        return cost <= walks.room(parent) + parent.inFlight - siblings.collected.stillHeld();
    }

    /** Starts a collection for the request, if permits are free and are not collected for another request. */
    void collect(SchedulingGroup siblings, QueuedRequest request, long room) {
        if (siblings.collected.request == null && room > 0) {
            siblings.collected.start(request);
            watched.add(siblings);
        }
    }

    /** Sets the leaf aside: it does not compete until {@link #comeBack}. */
    void stepAside(SchedulingGroup siblings, SchedulingNode leaf) {
        leaf.isAside = true;
        siblings.collected.aside.add(leaf);
        watched.add(siblings);
        walks.tickUpFrom(leaf);
        walks.updateRunQueues(leaf);
    }

    /** Where nothing competes and permits are free, lets one leaf that is aside compete again; returns whether it did. */
    boolean bringBackOne() {
        for (SchedulingGroup siblings : watched) {
            if (siblings.runQueue.isEmpty() && walks.room(siblings.parent()) > 0) {
                for (SchedulingNode leaf : siblings.collected.aside) {
                    comeBackNow(leaf);
                    return true;
                }
            }
        }
        return false;
    }

    // ---- after the grants ----

    /** Counts the permits that are free now as collected, for the requests that collect; notes whether others wait for them. */
    void charge() {
        for (SchedulingGroup siblings : watched) {
            walks.tick(siblings);
            QueuedRequest request = siblings.collected.request;
            if (request != null) {
                siblings.collected.noteOthers(othersCompete(siblings, request));
                SchedulingNode lacking = walks.lacking(request, HierarchyWalks.leafOf(request));
                long kept = lacking == siblings.parent() ? walks.room(lacking) : 0;
                setPermits(siblings, request, (int) Math.max(0, Math.min(kept, request.permits())));
            }
        }
    }

    private void setPermits(SchedulingGroup siblings, QueuedRequest request, int permits) {
        int more = permits - siblings.collected.permits;
        siblings.collected.permits = permits;
        if (more != 0) {
            walks.changeCollected(HierarchyWalks.leafOf(request), siblings, more);
        }
    }

    /** The earliest time at which a collection will have taken too long, in nanoseconds of the clock, or {@link #NEVER}. */
    long nextEnd() {
        long next = NEVER;
        for (SchedulingGroup siblings : watched) {
            CollectedPermits collected = siblings.collected;
            QueuedRequest request = collected.request;
            if (request != null && collected.othersWait() && isLimited(siblings, request)) {
                double untilBudget = (budget(siblings, request) - collected.idled()) / Math.max(1, collected.permits);
                double untilTime = (double) walks.maxCollect - collected.othersWaited();
                next = Math.min(next, walks.now() + (long) Math.ceil(Math.max(0, Math.min(untilBudget, untilTime))));
            }
        }
        return next;
    }

    // ---- the end of a collection ----

    /** The request is granted: ends its collections. */
    void granted(QueuedRequest request) {
        for (SchedulingGroup siblings : List.copyOf(watched)) {
            if (siblings.collected.request == request) {
                stop(siblings, request);
            }
        }
    }

    /** The request leaves its queue without a grant: its collections have failed. */
    void left(QueuedRequest request) {
        for (SchedulingGroup siblings : List.copyOf(watched)) {
            if (siblings.collected.request == request) {
                fail(siblings, request);
            }
        }
    }

    /** Nothing below the node can be granted for now: ends the collections for its requests among its siblings and above. */
    void blocked(SchedulingNode node) {
        for (SchedulingNode at = node; !at.isPool(); at = at.parent()) {
            QueuedRequest request = at.siblings().collected.request;
            if (request != null && HierarchyWalks.isBelow(HierarchyWalks.leafOf(request), node)) {
                fail(at.siblings(), request);
            }
        }
    }

    private void fail(SchedulingGroup siblings, QueuedRequest request) {
        CollectedPermits collected = siblings.collected;
        walks.tick(siblings);
        stop(siblings, request);
        if (collected.othersWaited() > 0) {
            walks.chargeFromVirtualTime(HierarchyWalks.leafOf(request), siblings, Math.round(collected.idled()));
        }
    }

    private void stop(SchedulingGroup siblings, QueuedRequest request) {
        setPermits(siblings, request, 0);
        siblings.collected.request = null;
        siblings.collected.noteOthers(false);
    }

    // ---- leaves that are aside ----

    /** The requests of the leaf itself have changed: it competes again, once the nodes above it are settled. */
    void comeBack(SchedulingNode leaf) {
        if (leaf.isAside) {
            leaf.isAside = false;
            watched.forEach(siblings -> siblings.collected.aside.remove(leaf));
        }
    }

    private void comeBackNow(SchedulingNode leaf) {
        comeBack(leaf);
        walks.tickUpFrom(leaf);
        walks.updateRunQueues(leaf);
    }

    /** The request has released its permits: lets leaves compete again whose first request now fits beside what is still held. */
    void released(QueuedRequest request, SchedulingNode leaf) {
        for (SchedulingNode node = leaf; !node.isPool(); node = node.parent()) {
            SchedulingGroup siblings = node.siblings();
            CollectedPermits collected = siblings.collected;
            if (collected.cameBack(request.grant, request.permits()) || keepsAnything(siblings)) {
                List.copyOf(collected.aside).forEach(other -> comeBackIfItFits(siblings, other));
            }
        }
    }

    /** Whether there are reservations: then the cost of a request depends on what its tenant holds. */
    private static boolean keepsAnything(SchedulingGroup siblings) {
        return siblings.reserved > 0;
    }

    private void comeBackIfItFits(SchedulingGroup siblings, SchedulingNode leaf) {
        QueuedRequest head = leaf.queue.head();
        if (head == null || fitsBesideWhatIsStillHeld(siblings, head)) {
            comeBackNow(leaf);
        }
    }

    // ---- other requests ----

    /** Whether another request competes with this one, at a node where it could get the collected permits. */
    private static boolean othersCompete(SchedulingGroup siblings, QueuedRequest request) {
        for (SchedulingNode node = HierarchyWalks.leafOf(request); ; node = node.parent()) {
            if (node.siblings().runQueue.size() > 1) {
                return true;
            }
            if (node.siblings() == siblings) {
                return false;
            }
        }
    }

    /** Ends all collections and forgets the past ones, because the settings change: every request competes anew. */
    void forget() {
        for (SchedulingGroup siblings : watched) {
            QueuedRequest request = siblings.collected.request;
            if (request != null) {
                walks.tick(siblings);
                stop(siblings, request);
            }
            siblings.collected.forget();
        }
        watched.clear();
    }
}
