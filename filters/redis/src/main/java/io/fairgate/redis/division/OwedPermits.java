package io.fairgate.redis.division;

import java.util.concurrent.TimeUnit;

/**
 * How much permit-time a node was entitled to and did not have. Several nodes that are entitled to a part of one permit get it in
 * turn by this. What is long ago counts less, so that rounding and lost answers do not add up.
 *
 * <p>Not for use by several threads at once.
 */
public final class OwedPermits {

    /** In nanoseconds: after this time, about a third is left. */
    private static final double FADING = TimeUnit.MINUTES.toNanos(1);

    /** While there are permits for all, nothing is owed for long. */
    private static final double FADING_IN_PLENTY = TimeUnit.SECONDS.toNanos(1);

    private double permitSeconds;
    private double permits;
    private double fading = FADING_IN_PLENTY;
    private long since;

    /** @param now in nanoseconds of a clock that never goes back */
    public OwedPermits(long now) {
        this.since = now;
    }

    /** From now on the node is entitled to this share, and has this slice. */
    public void update(long now, NodeShare share, int slice) {
        permitSeconds = permitSeconds(now);
        since = now;
        permits = share.isScarce() ? share.entitled() - slice : 0;
        fading = share.isScarce() ? FADING : FADING_IN_PLENTY;
    }

    /** It is owed no more than this from now on. */
    void atMost(double most, long now) {
        permitSeconds = Math.min(permitSeconds(now), most);
        since = now;
    }

    /** Negative for more than the node was entitled to. */
    public double permitSeconds(long now) {
        // The solution of owed' = permits - owed / fading.
        double left = Math.exp(-(now - since) / fading);
        return permitSeconds * left + permits * fading / TimeUnit.SECONDS.toNanos(1) * (1 - left);
    }
}
