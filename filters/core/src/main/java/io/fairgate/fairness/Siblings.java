package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The nodes below one node: the clock on which they are served, their level, and who of them is backlogged. What they
 * share are the permits of their parent.
 *
 * <p>Each parent has a clock of its own. Children that wait only for their parent's cap compete among themselves, though
 * their parent does not compete with its own siblings.
 */
final class Siblings {

    /** Permit-nanoseconds that fit into an account, and into the sum of all, with room to spare. */
    static final long LARGEST_ACCOUNT = 1L << 60;

    final Backlog backlog;
    final Gain gain;
    /** In the order in which they came to be known. */
    final Set<Share> all = new LinkedHashSet<>();
    /** Those of them that a step may have to look at. */
    final PresentNodes present = new PresentNodes();

    /** The parent. */
    private @Nullable Share parent;

    /** How long what was used beyond a share is remembered, in nanoseconds of the contended clock. */
    private long memory;

    /** Permits that all of them hold or keep for themselves. */
    long occupied;
    /** What they keep for themselves when nothing is in flight. */
    long reserved;

    /** The permits that are kept for a large claim among them. */
    final CollectedPermits collected = new CollectedPermits();
    /** What is next among them cannot be granted, though they have something waiting; until something changes below the parent. */
    boolean stuck;
    /** Whether something has changed since permits were last handed out. */
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

    // ---- who they are ----

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

    /** The weights have changed; {@code atLeast} is that of a node that may still come. */
    void weighAgain(long atLeast) {
        heaviest = atLeast;
        all.forEach(share -> heaviest = Math.max(heaviest, share.weightUnits()));
    }

    // ---- who is backlogged, and the level ----

    /** Lets it compete, at the level if it is behind that. */
    void join(Share share, double permits) {
        double level = countableLevel();
        setServed(share, Math.max(served(share), Math.round(level * share.weightUnits())));
        boundLag(share, permits);
        share.backlogged = true;
        backlog.add(share, contendedNow);
    }

    /** Lets a node compete with the lag that it has. */
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
     * The weighted mean of served / weight over the backlogged ones that compete by their keys; the last one while none is
     * backlogged.
     */
    double level() {
        return backlog.isEmpty() ? idleLevel : backlog.level(contendedNow);
    }

    /** The level, after all accounts were counted anew from it when the heaviest could not be lifted to it. */
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

    /** How far it is behind, in permit-nanoseconds. */
    double lag(Share share) {
        return level() * share.weightUnits() - share.served(contendedNow);
    }

    /** While the tree is being changed, accounts have just been counted from the level on. */
    void noteLag(Share share) {
        share.lag = -share.served(contendedNow);
    }

    /** It goes elsewhere, which does not change the level of those who stay. */
    void moveOut(Share share) {
        if (share.backlogged) {
            leave(share);
            idleLevel = 0;
        }
        remove(share);
    }

    /** It may have come from elsewhere, where the clock was another. */
    void restoreLag(Share share) {
        share.setServed(-share.lag, contendedNow);
    }

    /** Others came or left, and the level is another one: accounts are small again, and who never joined is behind all. */
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

    /** It is idle from now on. */
    void noteIdle(Share share) {
        share.idleSince = contendedNow;
    }

    /** It is idle no longer. What it owed is forgotten when it was idle for as long as debts are remembered. */
    void wake(Share share) {
        if (hasIdledEnough(share)) {
            double level = countableLevel();
            setServed(share, Math.min(served(share), Math.round(level * share.weightUnits())));
        }
    }

    /**
     * Whether what an idle node owes is forgotten. The level alone does not say so: it stands still when others only come
     * and go.
     */
    boolean hasIdledEnough(Share share) {
        return contendedNow - share.idleSince > memory;
    }

    /** Whether an idle node is ahead, and that is not forgotten yet. */
    boolean owes(Share share) {
        return isAhead(share) && !hasIdledEnough(share);
    }

    /**
     * Bounds how far it is ahead or behind, by what it could work off within {@link #memory}: the level rises by {@code
     * permits / weights} of permit-time per weight while all permits are in use.
     *
     * @param permits those that all of them share
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

    /** Its account is at least so many permit-nanoseconds beyond the level of the others that are backlogged. */
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

    /** The first that something can be granted to at no cost for their parent. */
    @Nullable
    Share firstWithinReservation(Predicate<Share> test) {
        return backlog.firstWithinReservation(contendedNow, test);
    }

    /** The one with the smallest key. */
    @Nullable
    Share first() {
        return backlog.first(contendedNow);
    }

    // ---- time ----

    /** Brings the clock forward; {@code largestSpan} is for how long an account can grow until it is large. */
    void tick(long time, long largestSpan) {
        long passed = time - now;
        if (passed > 0) {
            now = time;
            if (contended) {
                // More than that is a clock that stood still, as that of a machine that was suspended.
                contendedNow += Math.min(passed, largestSpan);
                collected.pass(Math.min(passed, largestSpan));
                rebaseWhenLarge(largestSpan);
            }
        }
    }

    /** From now on the clock runs if any of them is backlogged, and stands still otherwise. */
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

    /** Before an account, or that of the heaviest when it is lifted to the level, or the sum overflows. */
    private void rebaseWhenLarge(long largestSpan) {
        if (contendedNow - rebasedAt > largestSpan) {
            rebase();
        } else {
            countableLevel();
        }
    }

    /** Counts all accounts from the level on. Who is too far behind to be counted is lifted anyway when it joins. */
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
