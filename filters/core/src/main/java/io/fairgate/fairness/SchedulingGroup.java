package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The children of one node, which share its permits: their contended clock, their virtual time and their run queue.
 *
 * <p>Each parent has its own contended clock. Children that wait only for their parent's cap compete with each other, while
 * their parent does not compete with its own siblings.
 */
final class SchedulingGroup {

    /** The largest account, in permit-nanoseconds; a sum of accounts still fits a {@code long} with room to spare. */
    static final long LARGEST_ACCOUNT = 1L << 60;

    final RunQueue runQueue;
    final Gain gain;
    /** All children, in the order in which they were added. */
    final Set<SchedulingNode> all = new LinkedHashSet<>();
    /** The children that are active or still owe; no step looks at the others. */
    final PresentNodes present = new PresentNodes();

    @Nullable
    SchedulingNode parent;

    /** How long use beyond a share is remembered, in nanoseconds of the contended clock. */
    long memory;

    /** Permits that the children hold or keep reserved. */
    long occupied;
    /** Permits that the children keep reserved while nothing is in flight. */
    long reserved;

    /** The permits that are collected for a large request of one of the children. */
    final CollectedPermits collected = new CollectedPermits();
    /** Whether the next request here does not fit into the parent's room; false again after a change below the parent. */
    boolean stuck;
    /** Whether something has changed since the last grants. */
    boolean touched;

    /** The time on the contended clock. */
    long contendedNow;

    private long now;
    private boolean contended;
    private double idleVirtualTime;
    private long rebasedAt;
    private long heaviest;

    SchedulingGroup(RunQueue runQueue, Gain gain, long now) {
        this.runQueue = runQueue;
        this.gain = gain;
        this.now = now;
        runQueue.afterChangeOfAll(contendedNow, gain.nanos());
    }

    SchedulingNode parent() {
        return Objects.requireNonNull(parent, "siblings without a parent");
    }

    // ---- the children ----

    /**
     * Adds a new node. It starts behind all others, so that it is raised to the virtual time when it becomes backlogged.
     */
    void addNew(SchedulingNode node) {
        add(node);
        node.setPermitTime(-LARGEST_ACCOUNT, contendedNow);
    }

    void add(SchedulingNode node) {
        all.add(node);
        node.siblings = this;
        node.idleSince = contendedNow;
        present.add(node);
        heaviest = Math.max(heaviest, node.weightUnits);
    }

    void remove(SchedulingNode node) {
        present.remove(node);
        all.remove(node);
    }

    /**
     * Finds the largest weight anew after the weights have changed.
     *
     * @param atLeast the weight of nodes that may still be added
     */
    void findHeaviest(long atLeast) {
        heaviest = atLeast;
        all.forEach(node -> heaviest = Math.max(heaviest, node.weightUnits));
    }

    // ---- the run queue and the virtual time ----

    /** Adds a node to the run queue, raised to the virtual time if it is behind. */
    void join(SchedulingNode node, double permits) {
        long least = Math.round(virtualTimeInRange() * node.weightUnits);
        node.setPermitTime(Math.max(node.permitTime(contendedNow), least), contendedNow);
        boundLag(node, permits);
        goOn(node);
    }

    /** Adds a node to the run queue with the lag that it has. */
    void goOn(SchedulingNode node) {
        node.backlogged = true;
        runQueue.add(node, contendedNow);
    }

    void leave(SchedulingNode node) {
        idleVirtualTime = virtualTime();
        node.backlogged = false;
        runQueue.remove(node, contendedNow);
    }

    /**
     * The virtual time: the weighted mean of the attained services over the backlogged nodes that compete by their keys.
     * While no node is backlogged, the last value.
     */
    double virtualTime() {
        return runQueue.isEmpty() ? idleVirtualTime : runQueue.virtualTime(contendedNow);
    }

    /** The virtual time. Rebases all accounts first if the heaviest node could not be raised to it without overflow. */
    private double virtualTimeInRange() {
        double virtualTime = virtualTime();
        if (Math.abs(virtualTime) * Math.max(heaviest, runQueue.weightUnits()) > LARGEST_ACCOUNT) {
            rebase();
            return virtualTime();
        }
        return virtualTime;
    }

    /** How far the node is behind the virtual time, in permit-nanoseconds; negative when it is ahead. */
    double lag(SchedulingNode node) {
        return virtualTime() * node.weightUnits - node.permitTime(contendedNow);
    }

    /** The node is idle from now on. */
    void noteIdle(SchedulingNode node) {
        node.idleSince = contendedNow;
        present.dropIfDebtless(node);
    }

    /** The node is no longer idle. Its debt is forgotten if it was idle for longer than the memory. */
    void wake(SchedulingNode node) {
        present.wake(node);
        if (hasIdledEnough(node)) {
            long most = Math.round(virtualTimeInRange() * node.weightUnits);
            node.setPermitTime(Math.min(node.permitTime(contendedNow), most), contendedNow);
        }
    }

    /**
     * Whether the debt of an idle node is forgotten. The virtual time alone does not decide that: it does not rise while
     * others only become backlogged and idle in turn.
     */
    boolean hasIdledEnough(SchedulingNode node) {
        return contendedNow - node.idleSince > memory;
    }

    /** Whether an idle node is ahead and its debt is not forgotten yet. */
    boolean owes(SchedulingNode node) {
        return lag(node) < 0 && !hasIdledEnough(node);
    }

    /**
     * Bounds how far a node is ahead or behind, by what it could pay back within {@link #memory}: the virtual time rises by
     * {@code permits / weights} of permit-time per weight while all permits are in use.
     *
     * @param permits the permits that the children share
     */
    void boundLag(SchedulingNode node, double permits) {
        double virtualTime = virtualTimeInRange();
        long weight = node.weightUnits;
        double bound = memory * permits / Math.max(runQueue.weightUnits(), weight);
        double attainedService = (double) node.permitTime(contendedNow) / weight;
        double bounded = Math.min(Math.max(attainedService, virtualTime - bound), virtualTime + bound);
        if (bounded != attainedService) {
            beforeChange(node);
            node.setPermitTime(Math.round(bounded * weight), contendedNow);
            afterChange(node);
        }
    }

    /** Raises the account of a node to at least {@code permitNanos} beyond the virtual time of its backlogged siblings. */
    void chargeFromVirtualTime(SchedulingNode node, long permitNanos) {
        if (node.backlogged) {
            runQueue.remove(node, contendedNow);
        }
        if (!runQueue.isEmpty()) {
            long least = Math.round(virtualTimeInRange() * node.weightUnits) + permitNanos;
            node.setPermitTime(Math.max(node.permitTime(contendedNow), least), contendedNow);
        }
        if (node.backlogged) {
            runQueue.add(node, contendedNow);
        }
    }

    /** Changes the weight of a node. How far it is ahead or behind, in permit-time, stays, and so does the virtual time. */
    void setWeight(SchedulingNode node, long weightUnits) {
        heaviest = Math.max(heaviest, weightUnits);
        double permitTime = virtualTimeInRange() * weightUnits - lag(node);
        beforeChange(node);
        node.weightUnits = weightUnits;
        node.setPermitTime(Math.round(Math.min(Math.max(permitTime, -LARGEST_ACCOUNT), LARGEST_ACCOUNT)), contendedNow);
        afterChange(node);
    }

    void setCollected(SchedulingNode node, int permits) {
        beforeChange(node);
        node.setPermitTime(node.permitTime(contendedNow), contendedNow);
        node.collected = permits;
        afterChange(node);
    }

    void beforeChange(SchedulingNode node) {
        if (node.backlogged) {
            runQueue.beforeChange(node, contendedNow);
        }
    }

    void afterChange(SchedulingNode node) {
        if (node.backlogged) {
            runQueue.afterChange(node, contendedNow);
        }
    }

    // ---- while the settings and the places of the nodes change ----

    /**
     * Takes all nodes out of the run queue. The accounts are rebased, so the virtual time is 0 until {@link
     * #fillRunQueue}, and a node that moves to another group keeps its lag with its account.
     */
    void emptyRunQueue() {
        rebase();
        all.forEach(node -> {
            if (node.backlogged) {
                runQueue.remove(node, contendedNow);
            }
        });
    }

    /** Adds the backlogged nodes to the run queue again, with the lags that they have. */
    void fillRunQueue() {
        all.forEach(node -> {
            if (node.backlogged) {
                runQueue.add(node, contendedNow);
            }
        });
    }

    /** Takes over a node from another group, which has another clock. */
    void moveHere(SchedulingNode node) {
        SchedulingGroup from = node.siblings();
        long permitTime = node.permitTime(from.contendedNow);
        from.remove(node);
        add(node);
        node.setPermitTime(permitTime, contendedNow);
    }

    /** Rebases after nodes were moved in or out. A node that was never backlogged is set far behind all others again. */
    void rebaseAfterMoves() {
        List<SchedulingNode> farBehind = all.stream()
                .filter(node -> !node.backlogged && node.permitTime(contendedNow) < -LARGEST_ACCOUNT / 2)
                .toList();
        rebase();
        farBehind.forEach(node -> node.setPermitTime(-LARGEST_ACCOUNT, contendedNow));
    }

    // ---- time ----

    /**
     * Brings the clock forward.
     *
     * @param largestSpan how long, in nanoseconds, an account can grow before it reaches its largest value
     */
    void tick(long time, long largestSpan) {
        long passed = time - now;
        if (passed > 0) {
            now = time;
            if (contended) {
                // A longer step comes from a clock that stood still, as on a machine that was suspended.
                contendedNow += Math.min(passed, largestSpan);
                collected.pass(Math.min(passed, largestSpan));
                rebaseWhenLarge(largestSpan);
            }
        }
    }

    /** From now on the contended clock runs if a node is backlogged, and stands still otherwise. */
    void runOrStop() {
        contended = !runQueue.isEmpty();
        touched = false;
    }

    /** The gain follows the holds of the requests below the parent. */
    void observeHold(QueuedRequest released) {
        gain.observeHold(Math.max(0, now - released.grantedAt));
    }

    void adjustGain() {
        if (!runQueue.isEmpty() && gain.adjust(now)) {
            runQueue.afterChangeOfAll(contendedNow, gain.nanos());
        }
    }

    /** Rebases before an account, the sum, or the account of the heaviest node at the virtual time could overflow. */
    private void rebaseWhenLarge(long largestSpan) {
        if (contendedNow - rebasedAt > largestSpan) {
            rebase();
        } else {
            virtualTimeInRange();
        }
    }

    /**
     * Subtracts the virtual time from all accounts. A node that is too far behind for its account is clamped, which makes
     * no difference: it is raised to the virtual time when it becomes backlogged.
     */
    void rebase() {
        rebasedAt = contendedNow;
        double virtualTime = virtualTime();
        for (SchedulingNode node : all) {
            double rebased = node.permitTime(contendedNow) - virtualTime * node.weightUnits;
            node.setPermitTime(
                    Math.round(Math.min(Math.max(rebased, -LARGEST_ACCOUNT), LARGEST_ACCOUNT)), contendedNow);
        }
        idleVirtualTime = 0;
        runQueue.afterChangeOfAll(contendedNow, gain.nanos());
    }
}
