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
 *
 * <p>Over 250 lines because the level, the accounts that it is the mean of, and the clock that moves them are one thing.
 */
final class Siblings {

    /** Permit-nanoseconds that fit into an account, and into the sum of all, with room to spare. */
    static final long LARGEST_ACCOUNT = 1L << 60;

    final Backlog backlog;
    final Horizon horizon;
    /** In the order in which they came to be known. */
    final Set<Share> all = new LinkedHashSet<>();
    /** Those of them that a step may have to look at. */
    final PresentNodes present = new PresentNodes();

    /** The parent. */
    private @Nullable Share parent;

    private final double theta;

    /** Permits that all of them hold or keep for themselves. */
    long occupied;
    /** What they keep for themselves when nothing is in flight. */
    long reserved;

    /** The claim among them that permits collect for. */
    final Pin pin = new Pin();
    /** Nothing can be granted to whom is next, though somebody could be; until something changes below the parent. */
    boolean stuck;
    /** Whether something has changed since permits were last handed out. */
    boolean touched;

    private long now;
    private long contendedNow;
    private boolean contended;
    private double idleLevel;
    private long rebasedAt;
    private long heaviest;

    Siblings(Backlog backlog, Horizon horizon, double theta, long now) {
        this.backlog = backlog;
        this.horizon = horizon;
        this.theta = theta;
        this.now = now;
        backlog.afterChangeOfAll(contendedNow, horizon.nanos());
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

    /** The weights have changed; {@code atLeast} is that of somebody who may still come. */
    void weighAgain(long atLeast) {
        heaviest = atLeast;
        all.forEach(share -> heaviest = Math.max(heaviest, share.weightUnits()));
    }

    // ---- who is backlogged, and the level ----

    /** Lets it compete, at the level if it is behind that. */
    void join(Share share, double permits) {
        setServed(share, Math.max(served(share), Math.round(level() * share.weightUnits())));
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

    /** The weighted mean of served / weight over the backlogged ones; the last one while nobody is backlogged. */
    double level() {
        return backlog.isEmpty() ? idleLevel : (double) backlog.served(contendedNow) / backlog.weightUnits();
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
            if (share.lag > LARGEST_ACCOUNT / 2) {
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

    /**
     * It is idle no longer. Whoever was for as long as the largest lag could be paid back in does not begin with a debt,
     * though the level may not have risen: it does not when others only come and go.
     */
    void wake(Share share) {
        if (hasIdledEnough(share)) {
            setServed(share, Math.min(served(share), Math.round(level() * share.weightUnits())));
        }
    }

    /** Whether what an idle node owes is forgiven. */
    boolean hasIdledEnough(Share share) {
        return contendedNow - share.idleSince > 2 * theta * horizon.nanos();
    }

    /** Whether an idle node is ahead, and that is not forgiven yet. */
    boolean owes(Share share) {
        return isAhead(share) && !hasIdledEnough(share);
    }

    /** Bounds how far it is ahead or behind; {@code permits} are those that all of them share. */
    void boundLag(Share share, double permits) {
        double level = level();
        long weight = share.weightUnits();
        double bound = theta * horizon.nanos() * permits / Math.max(backlog.weightUnits(), weight);
        double served = (double) share.served(contendedNow) / weight;
        double bounded = Math.min(Math.max(served, level - bound), level + bound);
        if (bounded != served) {
            beforeChange(share);
            share.setServed(Math.round(bounded * weight), contendedNow);
            afterChange(share);
        }
    }

    /** As much as one more permit in its hands counts. */
    void chargeOneHorizon(Share share, double permits) {
        beforeChange(share);
        share.setServed(share.served(contendedNow) + horizon.nanos(), contendedNow);
        afterChange(share);
        boundLag(share, permits);
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
                pin.pass(Math.min(passed, largestSpan));
                rebaseWhenLarge(largestSpan);
            }
        }
    }

    /** From now on the clock runs if somebody is backlogged, and stands still otherwise. */
    void runOrStop() {
        contended = !backlog.isEmpty();
        touched = false;
    }

    void adjustHorizon(double permits) {
        if (horizon.adjust(now, (double) backlog.weightUnits(), (double) backlog.smallestWeightUnits(), permits)) {
            afterChangeOfAll();
        }
    }

    /** The time in which the largest lag is caught up with, while all of them hold their share of the permits. */
    long turn() {
        return (long) (theta * horizon.nanos());
    }

    boolean isHorizonDue() {
        return !backlog.isEmpty() && horizon.isDue(now);
    }

    void afterChangeOfAll() {
        backlog.afterChangeOfAll(contendedNow, horizon.nanos());
    }

    /** Before an account, or that of the heaviest when it is lifted to the level, or the sum overflows. */
    private void rebaseWhenLarge(long largestSpan) {
        double weights = Math.max(heaviest, backlog.weightUnits());
        if (Math.abs(level()) * weights > LARGEST_ACCOUNT || contendedNow - rebasedAt > largestSpan) {
            rebase();
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
