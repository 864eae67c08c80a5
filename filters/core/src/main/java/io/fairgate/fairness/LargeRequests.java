package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Collects free permits for the next request when it needs more than are free, so that small requests do not starve it, and
 * charges its tenant for them.
 *
 * <p><b>Collected permits count as held.</b> The permits that idle for a request count in the accounts of its tenant and of
 * the groups around it, whether it is granted in the end, cancelled or refused. So the tenant that they idle for pays for
 * them, and the others lose nothing of their shares.
 *
 * <p><b>A collection ends without a grant</b> when the request leaves its queue, or when others have waited meanwhile for
 * so long that the idle permits have used up a budget, or when others have waited for {@link
 * FairnessSettings#maxCollect}. The budget is at first two mean holds of the permits that the request asks for, and twice
 * as much after each failed collection of this request. The tenant is then charged at least what the permits idled,
 * counted from the virtual time of the others: what the tenant was behind does not pay for it. The permits go to the
 * others at once.
 *
 * <p><b>The next collection</b> waits for the holds that the last one waited for when it took too long. The permits that
 * were in flight at its end are noted. A request that would not fit beside those of them that are still held steps aside:
 * permits would idle for it, and it would not be granted. It competes again, by its key, when enough of them have been
 * released. While no other request competes, permits are collected for the request that stepped aside first, and go to
 * the next request that competes at once. A collection whose request left its queue has shown nothing about the permits
 * in flight. If these were noted then too, a tenant whose requests are cancelled again and again would keep the large
 * requests of all others aside.
 *
 * <p>A request that is larger than the {@linkplain FairScheduler#limit limit} of the pool steps aside until the limit is larger. Nothing
 * is collected for it, because the permits could not become enough.
 *
 * <p>For a request that fits within a guarantee as a whole, permits are collected for as long as it takes. Only requests
 * within a guarantee pass another request's collection, each tenant with at most its guarantee in one collection. With no
 * permit free nothing is collected: a choice made then would be stale when the next permit is released.
 */
final class LargeRequests {

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

    void endWhatTakesTooLong() {
        for (SchedulingGroup siblings : List.copyOf(watched)) {
            walks.tick(siblings);
            CollectedPermits collected = siblings.collected;
            QueuedRequest request = collected.request;
            if (request != null && isLimited(siblings, request) && isUsedUp(siblings, request)) {
                request.failedCollections++;
                fail(siblings, request);
                collected.tookTooLong(siblings.parent().inFlight, walks.grants);
                walks.tickUpFrom(request.leaf());
                walks.updateRunQueues(request.leaf());
            }
            if (collected.isOver()) {
                watched.remove(siblings);
            }
        }
    }

    private boolean isUsedUp(SchedulingGroup siblings, QueuedRequest request) {
        CollectedPermits collected = siblings.collected;
        return collected.idled >= budget(siblings, request) || collected.othersWaited >= walks.maxCollect;
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
        return isWithinLimit(request)
                && (siblings.collected.stillHeld == 0
                        || !isLimited(siblings, request)
                        || fitsBesideWhatIsStillHeld(siblings, request)
                        || !othersCompete(siblings, request));
    }

    private boolean isWithinLimit(QueuedRequest request) {
        return HierarchyWalks.costToPool(request) <= walks.mostAtOnce();
    }

    private boolean fitsBesideWhatIsStillHeld(SchedulingGroup siblings, QueuedRequest request) {
        SchedulingNode parent = siblings.parent();
        return cost(siblings, request) <= walks.room(parent) + parent.inFlight - siblings.collected.stillHeld;
    }

    private static long cost(SchedulingGroup siblings, QueuedRequest request) {
        return HierarchyWalks.cost(request, HierarchyWalks.childOn(request, siblings));
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
                    QueuedRequest head = leaf.queue.head();
                    if (head == null || isWithinLimit(head)) {
                        comeBackNow(leaf);
                        return true;
                    }
                }
            }
        }
        return false;
    }

    // ---- after the grants ----

    /** Counts the permits that are free now as collected, and notes whether others wait for them. */
    void charge() {
        for (SchedulingGroup siblings : watched) {
            walks.tick(siblings);
            QueuedRequest request = siblings.collected.request;
            if (request != null) {
                siblings.collected.othersWait = othersCompete(siblings, request);
                SchedulingNode lacking = walks.lacking(request);
                long kept = lacking == siblings.parent() ? walks.room(lacking) : 0;
                setPermits(siblings, request, (int) Math.max(0, Math.min(kept, request.permits())));
            }
        }
    }

    private void setPermits(SchedulingGroup siblings, QueuedRequest request, int permits) {
        int more = permits - siblings.collected.permits;
        siblings.collected.permits = permits;
        if (more != 0) {
            forEachUpTo(siblings, request, node -> {
                walks.tick(node.siblings());
                node.siblings().setCollected(node, node.collected + more);
            });
        }
    }

    /** Calls for each node from the leaf of the request up to the one among these siblings. */
    private static void forEachUpTo(SchedulingGroup siblings, QueuedRequest request, Consumer<SchedulingNode> action) {
        for (SchedulingNode node = request.leaf(); ; node = node.parent()) {
            action.accept(node);
            if (node.siblings() == siblings) {
                return;
            }
        }
    }

    /** The earliest time at which a collection will have taken too long, in nanoseconds of the clock, or {@link #NEVER}. */
    long nextEnd() {
        long next = NEVER;
        for (SchedulingGroup siblings : watched) {
            CollectedPermits collected = siblings.collected;
            QueuedRequest request = collected.request;
            if (request != null && collected.othersWait && isLimited(siblings, request)) {
                double untilBudget = (budget(siblings, request) - collected.idled) / Math.max(1, collected.permits);
                double untilTime = (double) walks.maxCollect - collected.othersWaited;
                next = Math.min(next, walks.now + (long) Math.ceil(Math.max(0, Math.min(untilBudget, untilTime))));
            }
        }
        return next;
    }

    // ---- the end of a collection ----

    /** The request leaves its queue: its collections end, and have failed if it is not granted. Its leaf competes again. */
    void left(QueuedRequest request, boolean isGranted) {
        for (SchedulingGroup siblings : watched) {
            if (siblings.collected.request == request && isGranted) {
                stop(siblings, request);
            } else if (siblings.collected.request == request) {
                fail(siblings, request);
            }
        }
        comeBack(request.leaf());
    }

    /**
     * Nothing below the node can be granted for now: ends the collections for its requests among its siblings and above.
     */
    void blocked(SchedulingNode node) {
        for (SchedulingNode at = node; !at.isPool(); at = at.parent()) {
            QueuedRequest request = at.siblings().collected.request;
            if (request != null && isBelow(request.leaf(), node)) {
                fail(at.siblings(), request);
            }
        }
    }

    private static boolean isBelow(SchedulingNode leaf, SchedulingNode node) {
        SchedulingNode at = leaf;
        while (at != node && !at.isPool()) {
            at = at.parent();
        }
        return at == node;
    }

    /** Ends the collection, and charges it at each node for which it was made. */
    private void fail(SchedulingGroup siblings, QueuedRequest request) {
        walks.tick(siblings);
        stop(siblings, request);
        if (siblings.collected.othersWaited > 0) {
            long idled = Math.round(siblings.collected.idled);
            forEachUpTo(siblings, request, node -> node.siblings().chargeFromVirtualTime(node, idled));
        }
    }

    private void stop(SchedulingGroup siblings, QueuedRequest request) {
        setPermits(siblings, request, 0);
        siblings.collected.request = null;
        siblings.collected.othersWait = false;
    }

    // ---- leaves that are aside ----

    /** Lets the leaf compete again, once the run queues above it are updated. */
    private void comeBack(SchedulingNode leaf) {
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

    /** The request was released: lets leaves compete again whose first request now fits beside what is still held. */
    void released(QueuedRequest request) {
        for (SchedulingNode node = request.leaf(); !node.isPool(); node = node.parent()) {
            SchedulingGroup siblings = node.siblings();
            CollectedPermits collected = siblings.collected;
            // With reservations the cost of a request depends on what its tenant holds.
            if (collected.cameBack(request) || siblings.reserved > 0) {
                List.copyOf(collected.aside).forEach(other -> comeBackIfItFits(siblings, other));
            }
        }
    }

    private void comeBackIfItFits(SchedulingGroup siblings, SchedulingNode leaf) {
        QueuedRequest head = leaf.queue.head();
        if (head == null || (fitsBesideWhatIsStillHeld(siblings, head) && isWithinLimit(head))) {
            comeBackNow(leaf);
        }
    }

    // ---- the limit of the pool ----

    /**
     * After a change of the limit: a request that is larger now steps aside, and its collection ends without a charge beyond that for
     * the idle permits. Requests that were larger before compete again.
     */
    void followLimit() {
        for (SchedulingGroup siblings : List.copyOf(watched)) {
            QueuedRequest request = siblings.collected.request;
            if (request != null && !isWithinLimit(request)) {
                walks.tick(siblings);
                stop(siblings, request);
                stepAside(siblings, request.leaf());
            }
            List.copyOf(siblings.collected.aside).forEach(leaf -> comeBackIfItFits(siblings, leaf));
        }
    }

    // ---- other requests ----

    /** Whether another request competes with this one, at a node where it could get the collected permits. */
    private static boolean othersCompete(SchedulingGroup siblings, QueuedRequest request) {
        for (SchedulingNode node = request.leaf(); ; node = node.parent()) {
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
