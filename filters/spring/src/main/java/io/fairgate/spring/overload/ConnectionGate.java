package io.fairgate.spring.overload;

import java.util.concurrent.TimeUnit;

/**
 * Decides which new connections an overloaded gateway accepts. The first ones are few, because each takes more than a
 * request; while the loops have room, they get more and more, so that clients come back soon when the overload is over.
 * It has no clock.
 */
final class ConnectionGate {

    /** Connections per nanosecond. */
    private static final double FEW = 50.0 / TimeUnit.SECONDS.toNanos(1);

    private static final double MANY = 100_000.0 / TimeUnit.SECONDS.toNanos(1);
    private static final double MORE = 2;

    private double rate = FEW;
    private double allowed;
    private long allowedAt;
    private long changedAt;

    /** Takes what is known of the loops. */
    synchronized void measured(long now, boolean areLate, boolean haveRoom) {
        if (areLate) {
            rate = FEW;
        } else if (haveRoom && now - changedAt >= LoopLoad.INTERVAL) {
            rate = Math.min(MANY, MORE * rate);
            changedAt = now;
        }
    }

    /** Whether a connection that has been accepted now is to be served. */
    synchronized boolean opens(long now) {
        allowed = Math.min(1, allowed + (now - allowedAt) * rate);
        allowedAt = now;
        if (allowed < 1) {
            return false;
        }
        allowed--;
        return true;
    }
}
