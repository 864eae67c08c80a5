package io.fairgate.fairness;

import io.fairgate.shares.ShareSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Updates all nodes on the path from a leaf up to the pool: a claim counts at each of them, and each of them joins or leaves
 * the run queue of its parent.
 */
final class SharePath {

    final Share pool;
    final Siblings top;
    final LargeClaims large = new LargeClaims(this);

    int permits;
    /** The longest time of one collection, in nanoseconds. */
    long maxCollect;

    private long grants;
    /** Permits that are lent to the fast path and count at no node. */
    int lent;
    /** Tenants that hold permits or have waiting claims. */
    int active;
    /** Whether every node so far was a child of the pool. */
    boolean isFlat = true;

    private final List<Siblings> touched = new ArrayList<>();
    private long now;
    /** The {@link #largestSpan} of {@link #spanOf} permits. */
    private long span;

    private int spanOf;

    SharePath(Share pool, Siblings top, int permits, long now) {
        this.pool = pool;
        this.top = top;
        this.permits = permits;
        this.now = now;
    }

    // ---- time ----

    long now() {
        return now;
    }

    /** Brings the clock of the pool forward. The clocks of the other nodes follow when these are used. */
    void tick(long time) {
        if (time - now > 0) {
            now = time;
        }
        top.tick(now, largestSpan());
    }

    void tick(Siblings siblings) {
        if (siblings != top) {
            siblings.tick(now, largestSpan());
        }
    }

    void tickUpFrom(Share leaf) {
        for (Siblings at = leaf.siblings(); at != top; at = at.parent().siblings()) {
            tick(at);
        }
    }

    /** How long, in nanoseconds, all permits can be in flight before an account reaches its largest value. */
    private long largestSpan() {
        int most = Math.max(permits, pool.inFlight);
        if (most != spanOf) {
            spanOf = most;
            span = Siblings.LARGEST_ACCOUNT / most;
        }
        return span;
    }

    void adjustGains() {
        top.adjustGain();
        for (Siblings siblings : touched) {
            tick(siblings);
            siblings.adjustGain();
        }
    }

    /** After the grants: the contended clock of a parent runs if some of its children are still backlogged. */
    void runOrStopClocks() {
        top.runOrStop();
        touched.forEach(Siblings::runOrStop);
        touched.clear();
    }

    /** The children of groups and tenants in which a claim or a permit has changed since the last grants. */
    List<Siblings> touched() {
        return touched;
    }

    /** Notes that the run queue of these siblings may have changed. */
    void touch(Siblings siblings) {
        if (siblings != top && !siblings.touched) {
            siblings.touched = true;
            touched.add(siblings);
        }
    }

    // ---- permits ----

    /** Permits that are free and not reserved; below zero after the pool has shrunk. */
    long available() {
        return permits - top.occupied - lent;
    }

    /** Whether no claim can be granted, whichever is next, and no group has to collect permits for it. */
    boolean isGivenAway() {
        return isFlat && top.reserved == 0 && available() <= 0;
    }

    /** How many more permits the children of a node may take. */
    long room(Share node) {
        return node.isPool() ? available() : node.room();
    }

    /** The permits that the children of a node share: what it holds or is entitled to now, whichever is more; at least one. */
    double permitsOf(Share node) {
        if (node.isPool()) {
            return permits;
        }
        Siblings siblings = node.siblings();
        double weight = (double) node.weightUnits();
        double entitled =
                permitsOf(siblings.parent()) * weight / Math.max((double) siblings.backlog.weightUnits(), weight);
        return Math.max(1, Math.min(node.cap(), Math.max(node.inFlight, entitled)));
    }

    /** To be called before a node gets a permit or a waiting claim: if it was idle, it is active from now on. */
    private void wake(Share node) {
        if (node.isIdle()) {
            node.siblings().wake(node);
            node.siblings().present.wake(node);
            active += node.tenant == null ? 0 : 1;
        }
    }

    /** To be called after a node has lost a permit or a waiting claim: if that was the last, it is idle from now on. */
    private void noteIdle(Share node) {
        if (node.isIdle()) {
            node.siblings().noteIdle(node);
            node.siblings().present.noteIdle(node, node.siblings().owes(node));
            active -= node.tenant == null ? 0 : 1;
        }
    }

    /** Counts a new waiting claim at every node. */
    void countArrival(Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            wake(node);
            node.waiting++;
            node.siblings().present.queueChanged(node);
        }
        pool.waiting++;
    }

    /** Counts one waiting claim less at every node. */
    void countDeparture(Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            node.waiting--;
            node.siblings().present.queueChanged(node);
            noteIdle(node);
        }
        pool.waiting--;
    }

    long nextGrant() {
        return ++grants;
    }

    long lastGrant() {
        return grants;
    }

    /** Counts released permits at every node. */
    void countRelease(Share leaf, int permits, long since) {
        changeInFlight(leaf, -permits, since, node -> {});
    }

    /** Counts, at every node, permits that a claim holds already. */
    void countHeld(Share leaf, int permits, long since, long grant) {
        changeInFlight(leaf, permits, since, node -> node.lastGrant = grant);
    }

    /** Counts, at every node, permits that are granted now. */
    void countGrant(Share leaf, int permits, long grant) {
        changeInFlight(leaf, permits, now, node -> {
            CollectedPermits collected = node.siblings().collected;
            boolean isPromised = node.isPromised(permits);
            boolean isFree = node.costOf(permits) == 0;
            node.lastGrant = grant;
            node.isServedFirst = isPromised || isFree;
            if (collected.claim != null && isPromised && !isFree) {
                node.countPass(collected.number, permits);
            }
        });
    }

    /**
     * @param permits the difference, positive or negative
     * @param since when these permits were granted
     * @param note updates each node before the permits count there
     */
    private void changeInFlight(Share leaf, int permits, long since, Consumer<Share> note) {
        long more = permits;
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            Siblings siblings = node.siblings();
            wake(node);
            siblings.beforeChange(node);
            note.accept(node);
            long before = node.occupied();
            siblings.changeInFlight(node, permits, since);
            if (node.below != null) {
                node.below.occupied += more;
            }
            more = node.occupied() - before;
            siblings.afterChange(node);
            noteIdle(node);
        }
        pool.inFlight += permits;
        top.occupied += more;
    }

    /** Counts {@code more} permits collected for a claim of the leaf, at every node up to and including {@code upTo}. */
    void changeCollected(Share leaf, Siblings upTo, int more) {
        for (Share node = leaf; ; node = node.parent()) {
            Siblings siblings = node.siblings();
            tick(siblings);
            siblings.setCollected(node, node.collected + more);
            if (siblings == upTo) {
                return;
            }
        }
    }

    /**
     * Charges a collection at every node from the leaf up to and including {@code upTo}: afterwards the account of the node is
     * at least {@code permitNanos} beyond the virtual time of its backlogged siblings.
     */
    void chargeFromLevelOfOthers(Share leaf, Siblings upTo, long permitNanos) {
        for (Share node = leaf; ; node = node.parent()) {
            node.siblings().chargeFromLevelOfOthers(node, permitNanos);
            if (node.siblings() == upTo) {
                return;
            }
        }
    }

    /** Adds a hold to the mean hold at every node: each gain follows the holds below its parent. */
    void observeHold(Share leaf, long holdNanos) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            node.siblings().gain.observeHold(holdNanos);
        }
    }

    void boundLags(Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            node.siblings().boundLag(node, permitsOf(node.parent()));
        }
    }

    /** The node nearest to the leaf that has no room for what the claim costs it; null when all nodes have room. */
    @Nullable
    Share lacking(QueuedRequest claim, Share leaf) {
        long cost = claim.permits();
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            if (!node.capAllows(cost)) {
                return node;
            }
            cost = node.costOf(cost);
        }
        return cost <= available() ? null : pool;
    }

    /** The cost of the claim to the parent of {@code upTo}; -1 when a node up to there has no room for it. */
    static long cost(QueuedRequest claim, Share leaf, Share upTo) {
        long cost = claim.permits();
        for (Share node = leaf; ; node = node.parent()) {
            if (!node.capAllows(cost)) {
                return -1;
            }
            cost = node.costOf(cost);
            if (node == upTo) {
                return cost;
            }
        }
    }

    /** Whether {@code n} permits fit at a leaf if nothing is in flight and all other nodes keep what they reserve. */
    boolean fitsWhenAllElseIsFree(Share leaf, int n) {
        long needed = Math.max(n, leaf.keeps());
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            Siblings siblings = node.siblings();
            needed += siblings.reserved - node.keeps();
            Share parent = siblings.parent();
            if (needed > (parent.isPool() ? permits : parent.settings.maxInFlight())) {
                return false;
            }
            needed = Math.max(needed, parent.settings.reserved());
        }
        return true;
    }

    // ---- the run queues ----

    /** Adds each node up to the pool to its parent's run queue, or removes it, as queues, caps and permits now require. */
    void settle(Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            if (node.below != null) {
                node.below.stuck = false;
            }
            settleOne(node);
        }
    }

    private void settleOne(Share node) {
        Siblings siblings = node.siblings();
        boolean competes = competes(node);
        touch(siblings);
        if (competes && !node.backlogged) {
            siblings.join(node, permitsOf(siblings.parent()));
        } else if (!competes && node.backlogged) {
            siblings.leave(node);
            large.blocked(node);
        } else if (competes) {
            siblings.backlog.afterChangeOfQueue(node);
        }
    }

    private boolean competes(Share node) {
        Siblings below = node.below;
        if (below == null) {
            QueuedRequest head = node.queue.head();
            return head != null
                    && !node.isAside
                    && node.capAllows(head.permits())
                    && fitsWhenAllElseIsFree(node, head.permits());
        }
        if (below.backlog.isEmpty() || below.stuck) {
            return false;
        }
        if (node.cap() == ShareSettings.UNBOUNDED) {
            return true;
        }
        long least = below.backlog.leastCost();
        return node.capAllows(least)
                && (below.collected.claim == null || least == 0 || mayGoOn(node, below, below.collected.claim));
    }

    /** Whether the claim that permits are collected for can be granted, or a claim within a guarantee might pass it. */
    private static boolean mayGoOn(Share node, Siblings below, QueuedRequest collecting) {
        long cost = cost(collecting, leafOf(collecting), childOn(collecting, below));
        return below.backlog.mostUrgent() != null || (cost >= 0 && node.capAllows(cost));
    }

    /**
     * Called when the next claim below a node does not fit into the node's room: collects the free permits of the node for it.
     * The node does not compete until something changes below it.
     */
    void blockAt(Share node, QueuedRequest claim) {
        Siblings below = node.below;
        if (below == null) {
            throw new IllegalStateException("%s is next and has no room".formatted(node));
        }
        tickUpFrom(leafOf(claim));
        large.collect(below, claim, node.room());
        below.stuck = true;
        settleOne(node);
        if (!node.parent().isPool()) {
            settle(node.parent());
        }
    }

    /** The one of these siblings at which, or below which, the claim waits. */
    static Share childOn(QueuedRequest claim, Siblings siblings) {
        Share child = leafOf(claim);
        while (child.siblings() != siblings) {
            child = child.parent();
        }
        return child;
    }

    /** Whether {@code leaf} is {@code node}, or below it. */
    static boolean isBelow(Share leaf, Share node) {
        Share at = leaf;
        while (at != node && !at.isPool()) {
            at = at.parent();
        }
        return at == node;
    }

    static Share leafOf(QueuedRequest claim) {
        Share leaf = claim.share;
        if (leaf == null) {
            throw new IllegalStateException("a claim that never waited");
        }
        return leaf;
    }
}
