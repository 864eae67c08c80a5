package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What happens to all nodes on the way from a leaf up to the pool: a claim counts at each of them, and each of them joins
 * or leaves the backlogged among its siblings.
 */
final class SharePath {

    final Share pool;
    final Siblings top;
    final LargeClaims large = new LargeClaims(this);

    int permits;
    /** How long permits are kept for a large claim in one go, in nanoseconds. */
    long maxCollect;

    private long grants;
    /** Permits that are out of the pool without the tree's knowledge. */
    int lent;
    /** Tenants that hold or want something. */
    int active;
    /** Whether there has never been a node between the pool and a leaf. */
    boolean isFlat = true;

    private final List<Siblings> touched = new ArrayList<>();
    private long now;
    /** The {@link #largestSpan} of so many permits. */
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

    /** The clock of the pool; the others follow when they are looked at. */
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

    /** For how long all permits together can be in flight until their accounts are large. */
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

    /** After permits were handed out: who waits still is contending. */
    void runOrStopClocks() {
        top.runOrStop();
        touched.forEach(Siblings::runOrStop);
        touched.clear();
    }

    /** Those below a group or a tenant to whom something has happened since permits were last handed out. */
    List<Siblings> touched() {
        return touched;
    }

    /** Who of them is backlogged may have changed. */
    void touch(Siblings siblings) {
        if (siblings != top && !siblings.touched) {
            siblings.touched = true;
            touched.add(siblings);
        }
    }

    // ---- permits ----

    /** Permits that are free for everybody; below zero after the pool has shrunk. */
    long available() {
        return permits - top.occupied - lent;
    }

    /** Whether nothing can be granted, whoever comes next, and nobody but the pool has to know who that is. */
    boolean isGivenAway() {
        return isFlat && top.reserved == 0 && available() <= 0;
    }

    /** How many more permits those below a node may take. */
    long room(Share node) {
        return node.isPool() ? available() : node.room();
    }

    /** What those below a node share: what it holds or is entitled to now, whichever is more; at least one permit. */
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

    /** Before it holds or wants something, of which it may be the first. */
    private void wake(Share node) {
        if (node.isIdle()) {
            node.siblings().wake(node);
            node.siblings().present.wake(node);
            active += node.tenant == null ? 0 : 1;
        }
    }

    /** After it has given or taken something back, which may have been the last. */
    private void noteIdle(Share node) {
        if (node.isIdle()) {
            node.siblings().noteIdle(node);
            node.siblings().present.noteIdle(node, node.siblings().owes(node));
            active -= node.tenant == null ? 0 : 1;
        }
    }

    /** A claim waits. */
    void countArrival(Share leaf) {
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            wake(node);
            node.waiting++;
            node.siblings().present.queueChanged(node);
        }
        pool.waiting++;
    }

    /** A claim waits no more. */
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

    /** Counts permits that come back at every node. */
    void countRelease(Share leaf, int permits, long since) {
        changeInFlight(leaf, -permits, since, node -> {});
    }

    /** Counts permits at every node that a claim holds already. */
    void countHeld(Share leaf, int permits, long since, long grant) {
        changeInFlight(leaf, permits, since, node -> node.lastGrant = grant);
    }

    /** Counts permits at every node that are granted now. */
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
     * @param permits how many more, or fewer
     * @param since when these permits were granted
     * @param note what else is to be noted at each node, before they count
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

    /** So many more free permits idle for a claim of the leaf, at every node up to those siblings. */
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

    /** The same nodes have used at least so many permit-nanoseconds beyond the level of the others there. */
    void chargeFromLevelOfOthers(Share leaf, Siblings upTo, long permitNanos) {
        for (Share node = leaf; ; node = node.parent()) {
            node.siblings().chargeFromLevelOfOthers(node, permitNanos);
            if (node.siblings() == upTo) {
                return;
            }
        }
    }

    /** The gains of all that it counts among follow it. */
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

    /** The node that has no room for what the claim costs it, the nearest to the leaf; null when all have. */
    @Nullable
    Share lacking(Claim claim, Share leaf) {
        long cost = claim.permits();
        for (Share node = leaf; !node.isPool(); node = node.parent()) {
            if (!node.capAllows(cost)) {
                return node;
            }
            cost = node.costOf(cost);
        }
        return cost <= available() ? null : pool;
    }

    /** What the claim costs the parent of {@code upTo}; -1 when a node up to there has no room for it. */
    static long cost(Claim claim, Share leaf, Share upTo) {
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

    /** Whether {@code n} permits fit at a node while all others give back what they hold, and keep what they reserve. */
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

    // ---- who is backlogged ----

    /** Lets every node up to the pool join or leave the backlogged, as queues, caps and permits now say. */
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
            Claim head = node.queue.head();
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

    /** Whether the claim that permits are kept for can be granted, or a promised one might pass it. */
    private static boolean mayGoOn(Share node, Siblings below, Claim collecting) {
        long cost = cost(collecting, leafOf(collecting), childOn(collecting, below));
        return below.backlog.mostUrgent() != null || (cost >= 0 && node.capAllows(cost));
    }

    /**
     * What is next below a node finds no room there: what is free is kept for it, and until that changes the node does not
     * compete.
     */
    void blockAt(Share node, Claim claim) {
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

    /** The node among those siblings that the claim waits at, or below. */
    static Share childOn(Claim claim, Siblings siblings) {
        Share child = leafOf(claim);
        while (child.siblings() != siblings) {
            child = child.parent();
        }
        return child;
    }

    /** Whether it is that node, or one below it. */
    static boolean isBelow(Share leaf, Share node) {
        Share at = leaf;
        while (at != node && !at.isPool()) {
            at = at.parent();
        }
        return at == node;
    }

    static Share leafOf(Claim claim) {
        Share leaf = claim.share;
        if (leaf == null) {
            throw new IllegalStateException("a claim that never waited");
        }
        return leaf;
    }
}
