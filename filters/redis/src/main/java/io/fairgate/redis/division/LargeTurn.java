package io.fairgate.redis.division;

/**
 * How urgent the largest request of a node is, if it needs more permits than the node is entitled to. The node with the most urgent request
 * gets the permits that its request needs ({@link ClusterShares}).
 *
 * <p>Urgency is what the node is owed, in permit-seconds. A node begins its turn as soon as it is first. In its turn it may get more than it is
 * owed, so that the turn is long enough for a request: {@value #SECONDS} seconds of the permits that it needs, and twice as much after each turn
 * in vain, in which it did not get these permits.
 *
 * <p>A turn in vain ends after the {@code max-collect} of the pool, and then others go first for as long. Permits were idle for nothing, so the
 * node is not owed any more for the time before that turn. The same holds for a turn that is lost to a more urgent request.
 *
 * <p>So a turn is for nodes what a collection is for requests (docs/fairness.md, "Large requests"). All times are in nanoseconds. Not for use by
 * several threads at once.
 */
public final class LargeTurn {

    private static final double SECONDS = 1;
    private static final int MOST_DOUBLINGS = 20;
    private static final double OTHERS_FIRST = -1e6;

    private final long freeNanos;

    /** Permits that the largest request needs. */
    private int needed;

    private boolean isOn;
    /** Whether the node has had the permits for a request in this turn. */
    private boolean hasFitted;
    /** Whether it has had any permits in this turn, which may be idle. */
    private boolean isCollecting;
    /** When it had the first ones, and what it was owed then. */
    private long collectingSince;

    private double owedBefore;

    /** Turns without enough permits, one after the other. */
    private int inVain;

    private boolean isPaused;
    private long pausedUntil;

    /** @param freeNanos a turn that is lost within this time costs nothing: nodes may disagree for a heartbeat */
    public LargeTurn(long freeNanos) {
        this.freeNanos = freeNanos;
    }

    /** The urgency of the largest request. */
    public double urgency(OwedPermits owed, long now) {
        double permitSeconds = owed.permitSeconds(now);
        if (isOn) {
            return permitSeconds + most();
        }
        return isPaused && now - pausedUntil < 0 ? OTHERS_FIRST : permitSeconds;
    }

    /** What the node may get in its turn beyond what it is owed, in permit-seconds. */
    private double most() {
        return needed * SECONDS * (hasFitted ? 1 : 1L << Math.min(inVain, MOST_DOUBLINGS));
    }

    /**
     * Begins or ends a turn.
     *
     * @param share of the node
     * @param needed permits that the largest request needs, those of leases included; 0 for no request
     * @param slice permits that the node has
     * @param leased permits of leases, which it has beside them
     * @param maxCollect of the pool
     */
    public void update(
            NodeShare share, int needed, int slice, int leased, OwedPermits owed, long maxCollect, long now) {
        boolean isLarger = needed > this.needed;
        this.needed = needed;
        inVain = needed == 0 ? 0 : inVain;
        if (!isOn && share.isFirst()) {
            isOn = true;
            hasFitted = false;
            isCollecting = false;
        }
        if (!isOn) {
            return;
        }
        if (hasFitted && isLarger) {
            hasFitted = false;
            isCollecting = false;
        }
        if (!isCollecting && slice > 0) {
            isCollecting = true;
            collectingSince = now;
            owedBefore = Math.max(0, owed.permitSeconds(now));
        }
        hasFitted |= slice + leased >= needed;
        boolean isTooLong = isCollecting && !hasFitted && now - collectingSince >= maxCollect;
        if (!share.isFirst() || isTooLong) {
            isOn = false;
            if (hasFitted) {
                inVain = 0;
            } else {
                endInVain(owed, now);
            }
            isPaused = isTooLong;
            pausedUntil = now + maxCollect;
        }
    }

    private void endInVain(OwedPermits owed, long now) {
        inVain++;
        if (isCollecting && now - collectingSince >= freeNanos) {
            owed.atMost(Math.min(0, owed.permitSeconds(now) - owedBefore), now);
        }
    }
}
