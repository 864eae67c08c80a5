package io.fairgate.fairness;

import io.fairgate.shares.ShareSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Updates all nodes on the path from a leaf up to the pool: a request counts at each of them, and each of them joins or
 * leaves the run queue of its parent.
 */
final class HierarchyWalks {

    final SchedulingNode pool;
    final SchedulingGroup top;
    final LargeRequests large = new LargeRequests(this);

    int permits;
    /** The most permits in flight, if that is less than {@link #permits}. */
    int limit = Integer.MAX_VALUE;
    /** Permits in flight by which the limit goes down when they are released. */
    int leased;
    /** The longest time of one collection, in nanoseconds. */
    long maxCollect;

    /** The number of the last grant. */
    long grants;
    /** Permits in the slots of the fast path; they count at no node. */
    int inSlots;
    /** Tenants that hold permits or have waiting requests. */
    int active;
    /** Whether every node so far was a child of the pool. */
    boolean isFlat = true;

    /** The children of groups and tenants in which a request or a permit has changed since the last grants. */
    final List<SchedulingGroup> touched = new ArrayList<>();
    /** The time, in nanoseconds. */
    long now;
    /** The {@link #largestSpan} of {@link #spanOf} permits. */
    private long span;

    private int spanOf;

    HierarchyWalks(SchedulingGroup top, int permits, long now) {
        this.pool = new SchedulingNode(0, ShareSettings.EQUAL, true, top);
        this.top = top;
        this.permits = permits;
        this.now = now;
    }

    // ---- time ----

    /** Brings the clock of the pool forward. The clocks of the other nodes follow when these are used. */
    void tick(long time) {
        if (time - now > 0) {
            now = time;
        }
        top.tick(now, largestSpan());
    }

    void tick(SchedulingGroup siblings) {
        siblings.tick(now, largestSpan());
    }

    void tickUpFrom(SchedulingNode leaf) {
        for (SchedulingGroup at = leaf.siblings(); at != top; at = at.parent().siblings()) {
            tick(at);
        }
    }

    /** How long, in nanoseconds, all permits can be in flight before an account reaches its largest value. */
    private long largestSpan() {
        int most = Math.max(permits, pool.inFlight);
        if (most != spanOf) {
            spanOf = most;
            span = SchedulingGroup.LARGEST_ACCOUNT / most;
        }
        return span;
    }

    void adjustGains() {
        top.adjustGain();
        for (SchedulingGroup siblings : touched) {
            tick(siblings);
            siblings.adjustGain();
        }
    }

    /** After the grants: the contended clock of a parent runs if some of its children are still backlogged. */
    void runOrStopClocks() {
        top.runOrStop();
        touched.forEach(SchedulingGroup::runOrStop);
        touched.clear();
    }

    /** Notes that the run queue of these siblings may have changed. */
    void touch(SchedulingGroup siblings) {
        if (siblings != top && !siblings.touched) {
            siblings.touched = true;
            touched.add(siblings);
        }
    }

    // ---- permits ----

    /** Permits that are free and not reserved; below zero after the pool has shrunk. */
    long available() {
        return Math.min(permits, limit) - top.occupied - inSlots;
    }

    /** The most that one request may cost the pool within the limit, when all that will come back has come back. */
    long mostAtOnce() {
        return available() + pool.inFlight - leased;
    }

    /** Whether no request can be granted, whichever is next, and no group has to collect permits for it. */
    boolean isGivenAway() {
        return isFlat && top.reserved == 0 && available() <= 0;
    }

    /** How many more permits the children of a node may take. */
    long room(SchedulingNode node) {
        return node.isPool() ? available() : node.room();
    }

    /** The permits that the children share: what the node holds or is entitled to, whichever is more; at least one. */
    double permitsOf(SchedulingNode node) {
        if (node.isPool()) {
            return permits;
        }
        SchedulingGroup siblings = node.siblings();
        double weight = (double) node.weightUnits;
        double entitled =
                permitsOf(siblings.parent()) * weight / Math.max((double) siblings.runQueue.weightUnits(), weight);
        return Math.max(1, Math.min(node.cap(), Math.max(node.inFlight, entitled)));
    }

    /** To be called before a node gets a permit or a waiting request: if it was idle, it is active from now on. */
    private void wake(SchedulingNode node) {
        if (node.isIdle()) {
            node.siblings().wake(node);
            active += node.tenant == null ? 0 : 1;
        }
    }

    /** To be called after a node has lost a permit or a waiting request: if that was the last, it is idle from now on. */
    private void noteIdle(SchedulingNode node) {
        if (node.isIdle()) {
            node.siblings().noteIdle(node);
            active -= node.tenant == null ? 0 : 1;
        }
    }

    /** Counts one waiting request more, or one less, at every node. */
    void changeWaiting(SchedulingNode leaf, int more) {
        for (SchedulingNode node = leaf; !node.isPool(); node = node.parent()) {
            wake(node);
            node.waiting += more;
            node.siblings().present.queueChanged(node);
            noteIdle(node);
        }
        pool.waiting += more;
    }

    /**
     * Counts permits of a request at every node, more or less.
     *
     * @param note updates each node before the permits count there
     */
    void changeInFlight(QueuedRequest request, int permits, BiConsumer<SchedulingNode, QueuedRequest> note) {
        long more = permits;
        for (SchedulingNode node = request.leaf(); !node.isPool(); node = node.parent()) {
            SchedulingGroup siblings = node.siblings();
            wake(node);
            siblings.beforeChange(node);
            note.accept(node, request);
            long before = node.occupied();
            node.changeInFlight(permits, request.grantedAt, siblings.contendedNow);
            if (node.children != null) {
                node.children.occupied += more;
            }
            more = node.occupied() - before;
            siblings.afterChange(node);
            noteIdle(node);
        }
        pool.inFlight += permits;
        top.occupied += more;
    }

    void boundLags(SchedulingNode leaf) {
        for (SchedulingNode node = leaf; !node.isPool(); node = node.parent()) {
            node.siblings().boundLag(node, permitsOf(node.parent()));
        }
    }

    /** The node nearest to the leaf that has no room for what the request costs it; null when all nodes have room. */
    @Nullable
    SchedulingNode lacking(QueuedRequest request) {
        long cost = request.permits();
        for (SchedulingNode node = request.leaf(); !node.isPool(); node = node.parent()) {
            if (cost > node.room()) {
                return node;
            }
            cost = node.costOf(cost);
        }
        return cost <= available() ? null : pool;
    }

    /** The cost of the request to the parent of {@code upTo}; -1 when a node up to there has no room for it. */
    static long cost(QueuedRequest request, SchedulingNode upTo) {
        long cost = request.permits();
        for (SchedulingNode node = request.leaf(); ; node = node.parent()) {
            if (cost > node.room()) {
                return -1;
            }
            cost = node.costOf(cost);
            if (node == upTo) {
                return cost;
            }
        }
    }

    /** The cost of the request to the pool, whether or not the nodes on the way have room for it now. */
    static long costToPool(QueuedRequest request) {
        long cost = request.permits();
        for (SchedulingNode node = request.leaf(); !node.isPool(); node = node.parent()) {
            cost = node.costOf(cost);
        }
        return cost;
    }

    /** Whether {@code n} permits fit at a leaf if nothing is in flight and all other nodes keep what they reserve. */
    boolean fitsWhenAllElseIsFree(SchedulingNode leaf, int n) {
        long needed = Math.max(n, leaf.keeps());
        for (SchedulingNode node = leaf; !node.isPool(); node = node.parent()) {
            SchedulingGroup siblings = node.siblings();
            needed += siblings.reserved - node.keeps();
            SchedulingNode parent = siblings.parent();
            if (needed > (parent.isPool() ? permits : parent.settings.maxInFlight())) {
                return false;
            }
            needed = Math.max(needed, parent.settings.reserved());
        }
        return true;
    }

    // ---- the run queues ----

    /** Adds each node up to the pool to its parent's run queue, or removes it, as queues, caps and permits now require. */
    void updateRunQueues(SchedulingNode leaf) {
        for (SchedulingNode node = leaf; !node.isPool(); node = node.parent()) {
            if (node.children != null) {
                node.children.stuck = false;
            }
            updateRunQueue(node);
        }
    }

    private void updateRunQueue(SchedulingNode node) {
        SchedulingGroup siblings = node.siblings();
        boolean competes = competes(node);
        touch(siblings);
        if (competes && !node.backlogged) {
            siblings.join(node, permitsOf(siblings.parent()));
        } else if (!competes && node.backlogged) {
            siblings.leave(node);
            large.blocked(node);
        } else if (competes) {
            siblings.runQueue.afterChangeOfQueue(node);
        }
    }

    private boolean competes(SchedulingNode node) {
        SchedulingGroup children = node.children;
        if (children == null) {
            QueuedRequest head = node.queue.head();
            return head != null
                    && !node.isAside
                    && head.permits() <= node.room()
                    && fitsWhenAllElseIsFree(node, head.permits());
        }
        if (children.runQueue.isEmpty() || children.stuck) {
            return false;
        }
        if (node.cap() == ShareSettings.UNBOUNDED) {
            return true;
        }
        long least = children.runQueue.leastCost();
        return least <= node.room()
                && (children.collected.request == null
                        || least == 0
                        || mayGoOn(node, children, children.collected.request));
    }

    /** Whether the request that permits are collected for can be granted, or a request within a guarantee might pass it. */
    private static boolean mayGoOn(SchedulingNode node, SchedulingGroup children, QueuedRequest collecting) {
        long cost = cost(collecting, childOn(collecting, children));
        return children.runQueue.mostUrgent() != null || (cost >= 0 && cost <= node.room());
    }

    /**
     * Called when the next request below a node does not fit into the node's room: collects the free permits of the node
     * for it. The node does not compete until something changes below it.
     */
    void blockAt(SchedulingNode node, SchedulingGroup children, QueuedRequest request) {
        tickUpFrom(request.leaf());
        large.collect(children, request, node.room());
        children.stuck = true;
        updateRunQueue(node);
        updateRunQueues(node.parent());
    }

    /** The one of these siblings at which, or below which, the request waits. */
    static SchedulingNode childOn(QueuedRequest request, SchedulingGroup siblings) {
        SchedulingNode child = request.leaf();
        while (child.siblings() != siblings) {
            child = child.parent();
        }
        return child;
    }
}
