package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The children of one node, which share its permits: their contended clock, their virtual time and their run queue.
 *
 * <p>Each parent has its own contended clock. Children that wait only for their parent's cap compete with each other, while
 * their parent does not compete with its own siblings.
 */
final class Siblings {

    /** The largest account, in permit-nanoseconds; a sum of accounts still fits a {@code long} with room to spare. */
    static final long LARGEST_ACCOUNT = 1L << 60;

    final Backlog backlog;
    final Gain gain;
    /** All children, in the order in which they were added. */
    final Set<Share> all = new LinkedHashSet<>();
    /** The children that are active or still owe; no step looks at the others. */
    final PresentNodes present = new PresentNodes();

    private @Nullable Share parent;

    /** How long use beyond a share is remembered, in nanoseconds of the contended clock. */
    private long memory;

    /** Permits that the children hold or keep reserved. */
    long occupied;
    /** Permits that the children keep reserved while nothing is in flight. */
    long reserved;

    /** The permits that are collected for a large claim of one of the children. */
    final CollectedPermits collected = new CollectedPermits();
    /** Whether the next claim here does not fit into the parent's room; false again after a change below the parent. */
    boolean stuck;
    /** Whether something has changed since the last grants. */
    boolean touched;

    private long now;
    private long contendedNow;
    private boolean contended;
    private double idleLevel;
    private long rebasedAt;
    private long heaviest;

    Siblings(Backlog backlog, Gain gain, long memory, long now) {
        this.backlog = backlog;
        this.gain = gain;
        this.memory = memory;
        this.now = now;
        backlog.afterChangeOfAll(contendedNow, gain.nanos());
    }

    void setMemory(long nanos) {
        memory = nanos;
    }

    void setParent(Share parent) {
        this.parent = parent;
    }

    Share parent() {
        if (parent == null) {
            throw new IllegalStateException("siblings without a parent");
        }
        return parent;
    }

    // ---- the children ----

    void add(Share share) {
        all.add(share);
        share.siblings = this;
        share.idleSince = contendedNow;
        present.add(share);
        heaviest = Math.max(heaviest, share.weightUnits());
    }

    void remove(Share share) {
        present.remove(share);
        all.remove(share);
    }

    /**
     * Finds the largest weight anew after the weights have changed.
     *
     * @param atLeast the weight of nodes that may still be added
     */
    void weighAgain(long atLeast) {
        heaviest = atLeast;
        all.forEach(share -> heaviest = Math.max(heaviest, share.weightUnits()));
    }

    // ---- the run queue and the virtual time ----

    /** Adds a node to the run queue, raised to the virtual time if it is behind. */
    void join(Share share, double permits) {
        double level = countableLevel();
        setServed(share, Math.max(served(share), Math.round(level * share.weightUnits())));
        boundLag(share, permits);
        share.backlogged = true;
        backlog.add(share, contendedNow);
    }

    /** Adds a node to the run queue with the lag that it has. */
    void goOn(Share share) {
        share.backlogged = true;
        backlog.add(share, contendedNow);
    }

    void leave(Share share) {
        idleLevel = level();
        share.backlogged = false;
        backlog.remove(share, contendedNow);
    }

    /**
     * The virtual time: the weighted mean of served / weight over the backlogged nodes that compete by their keys. While no
     * node is backlogged, the last value.
     */
    double level() {
        return backlog.isEmpty() ? idleLevel : backlog.level(contendedNow);
    }

    /** The virtual time. Rebases all accounts first if the heaviest node could not be raised to it without overflow. */
    private double countableLevel() {
        double level = level();
        if (Math.abs(level) * Math.max(heaviest, backlog.weightUnits()) > LARGEST_ACCOUNT) {
            rebase();
            return level();
        }
        return level;
    }

    long served(Share share) {
        return share.served(contendedNow);
    }

    void setServed(Share share, long served) {
        share.setServed(served, contendedNow);
    }

    /** How far the node is behind the virtual time, in permit-nanoseconds; negative when it is ahead. */
    double lag(Share share) {
        return level() * share.weightUnits() - share.served(contendedNow);
    }

    /** Notes the lag while the hierarchy is reconfigured: the accounts have just been rebased, so they are the lags negated. */
    void noteLag(Share share) {
        share.lag = -share.served(contendedNow);
    }

    /** Removes a node that moves to another parent. All accounts have just been rebased, so the virtual time stays 0. */
    void moveOut(Share share) {
        if (share.backlogged) {
            leave(share);
            idleLevel = 0;
        }
        remove(share);
    }

    /** Sets the account from the noted lag: the node may have come from another parent, with another clock. */
    void restoreLag(Share share) {
        share.setServed(-share.lag, contendedNow);
    }

    /** Rebases after nodes were moved in or out. A node that was never backlogged is set far behind all others again. */
    void levelOut() {
        rebase();
        for (Share share : all) {
            if (!share.backlogged && share.lag > LARGEST_ACCOUNT / 2) {
                share.setServed(-LARGEST_ACCOUNT, contendedNow);
            }
        }
    }

    boolean isAhead(Share share) {
        return share.served(contendedNow) > level() * share.weightUnits();
    }

    /** The node is idle from now on. */
    void noteIdle(Share share) {
        share.idleSince = contendedNow;
    }

    /** The node is no longer idle. Its debt is forgotten if it was idle for longer than the memory. */
    void wake(Share share) {
        if (hasIdledEnough(share)) {
            double level = countableLevel();
            setServed(share, Math.min(served(share), Math.round(level * share.weightUnits())));
        }
    }

    /**
     * Whether the debt of an idle node is forgotten. The virtual time alone does not decide that: it does not rise while
     * others only become backlogged and idle in turn.
     */
    boolean hasIdledEnough(Share share) {
        return contendedNow - share.idleSince > memory;
    }

    /** Whether an idle node is ahead and its debt is not forgotten yet. */
    boolean owes(Share share) {
        return isAhead(share) && !hasIdledEnough(share);
    }

    /**
     * Bounds how far a node is ahead or behind, by what it could pay back within {@link #memory}: the virtual time rises by
     * {@code permits / weights} of permit-time per weight while all permits are in use.
     *
     * @param permits the permits that the children share
     */
    void boundLag(Share share, double permits) {
        double level = countableLevel();
        long weight = share.weightUnits();
        double bound = memory * permits / Math.max(backlog.weightUnits(), weight);
        double served = (double) share.served(contendedNow) / weight;
        double bounded = Math.min(Math.max(served, level - bound), level + bound);
        if (bounded != served) {
            beforeChange(share);
            share.setServed(Math.round(bounded * weight), contendedNow);
            afterChange(share);
        }
    }

    /** Raises the account of a node to at least {@code permitNanos} beyond the virtual time of its backlogged siblings. */
    void chargeFromLevelOfOthers(Share share, long permitNanos) {
        if (share.backlogged) {
            backlog.remove(share, contendedNow);
        }
        if (!backlog.isEmpty()) {
            long least = Math.round(countableLevel() * share.weightUnits()) + permitNanos;
            setServed(share, Math.max(served(share), least));
        }
        if (share.backlogged) {
            backlog.add(share, contendedNow);
        }
    }

    void setCollected(Share share, int permits) {
        beforeChange(share);
        share.setCollected(permits, contendedNow);
        afterChange(share);
    }

    void beforeChange(Share share) {
        if (share.backlogged) {
            backlog.beforeChange(share, contendedNow);
        }
    }

    void afterChange(Share share) {
        if (share.backlogged) {
            backlog.afterChange(share, contendedNow);
        }
    }

    void changeInFlight(Share share, int permits, long since) {
        share.changeInFlight(permits, since, contendedNow);
    }

    /** The node with the smallest key among those that pass the test and can be granted a claim at no cost to the parent. */
    @Nullable
    Share firstWithinReservation(Predicate<Share> test) {
        return backlog.firstWithinReservation(contendedNow, test);
    }

    /** The node with the smallest key. */
    @Nullable
    Share first() {
        return backlog.first(contendedNow);
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
        contended = !backlog.isEmpty();
        touched = false;
    }

    void adjustGain() {
        if (!backlog.isEmpty() && gain.isDue(now) && gain.adjust(now)) {
            afterChangeOfAll();
        }
    }

    void afterChangeOfAll() {
        backlog.afterChangeOfAll(contendedNow, gain.nanos());
    }

    /** Rebases before an account, the sum, or the account of the heaviest node at the virtual time could overflow. */
    private void rebaseWhenLarge(long largestSpan) {
        if (contendedNow - rebasedAt > largestSpan) {
            rebase();
        } else {
            countableLevel();
        }
    }

    /**
     * Subtracts the virtual time from all accounts. A node that is too far behind for its account is clamped, which makes no
     * difference: it is raised to the virtual time when it becomes backlogged.
     */
    void rebase() {
        rebasedAt = contendedNow;
        double level = level();
        for (Share share : all) {
            double rebased = share.served(contendedNow) - level * share.weightUnits();
            share.setServed(Math.round(Math.min(Math.max(rebased, -LARGEST_ACCOUNT), LARGEST_ACCOUNT)), contendedNow);
        }
        idleLevel = 0;
        afterChangeOfAll();
    }
}
