package io.fairgate.spring.overload;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * Decides which requests an event loop takes while it has more to do than it can. It has neither a clock nor a thread:
 * {@link #measured} is called with how late the loop is, and {@link #admits} for each request. The description of the
 * package explains the rule.
 */
final class LoopLoad {

    /** For how long all measurements must be late before anything is refused, and the time between changes of the rate. */
    static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long the loop must have room, and no request be refused, until it counts as relieved. */
    static final long CALM = TimeUnit.SECONDS.toNanos(2);

    /** A tenant that has sent less than its share may send the rest of this time at once. */
    private static final long BURST = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long MIXED_FOR = TimeUnit.SECONDS.toNanos(10);
    private static final int CLOCKS = 4096;

    private static final double MUCH_SLOWER = 0.8;
    private static final double SLOWER = 0.95;
    private static final double FASTER = 1.05;
    private static final double MUCH_FASTER = 1.3;

    private enum State {
        RELIEVED,
        /** All requests are admitted and counted: what do the tenants send, and what does the loop carry? */
        COUNTING,
        LIMITING
    }

    private final long maxLag;
    private final IntSupplier random;
    private volatile State state = State.RELIEVED;
    private volatile boolean isLate;
    private volatile boolean hasRoom;
    private boolean wasLate;
    private long lateSince;
    private long calmSince;
    private long changedAt;
    private long mixedAt;
    /** An odd number. */
    private int mixer;

    private double[] clocks = {};
    private double clock;
    private long clockAt;
    /** Requests per nanosecond and weight. */
    private double rate;
    /** The most requests per nanosecond that were admitted while the loop was overloaded. */
    private double carried;

    private double highest;
    private long admitted;
    private long refused;

    /**
     * @param maxLag how late the loop may be; zero for any time
     * @param random mixes the tenants
     */
    LoopLoad(Duration maxLag, IntSupplier random) {
        this.maxLag = maxLag.isZero() ? Long.MAX_VALUE : maxLag.toNanos();
        this.random = random;
    }

    LoopLoad(Duration maxLag) {
        this(maxLag, () -> ThreadLocalRandom.current().nextInt());
    }

    /** Whether the loop has more to do than it can. */
    boolean isOverloaded() {
        return state != State.RELIEVED;
    }

    /** Whether it is overloaded, and was too late when it was measured last. */
    boolean isLate() {
        return isLate;
    }

    /** Whether it could take more connections, although it may be overloaded. */
    boolean hasRoom() {
        return hasRoom;
    }

    /** Takes a measurement. */
    synchronized void measured(long now, long lag) {
        boolean late = lag > maxLag;
        lateSince = late && wasLate ? lateSince : now;
        wasLate = late;
        boolean isDue = now - changedAt >= INTERVAL;
        if (state == State.RELIEVED && late && now - lateSince >= INTERVAL) {
            count(now);
        } else if (state == State.COUNTING && isDue) {
            limit(now);
        } else if (state == State.LIMITING && isDue) {
            adapt(now, lag);
        }
        isLate = isOverloaded() && late;
        hasRoom = hasRoom(lag);
    }

    private boolean hasRoom(long lag) {
        return lag <= maxLag / 2;
    }

    private void count(long now) {
        clocks = new double[CLOCKS];
        mix(now);
        highest = 0;
        begin(now);
        state = State.COUNTING;
    }

    private void mix(long now) {
        mixer = random.getAsInt() | 1;
        mixedAt = now;
        Arrays.fill(clocks, clock);
    }

    private void begin(long now) {
        admitted = 0;
        refused = 0;
        changedAt = now;
    }

    private void limit(long now) {
        if (admitted == 0) {
            relieve();
            return;
        }
        double nanos = now - changedAt;
        rate = highest / nanos;
        carried = admitted / nanos;
        clock = 0;
        clockAt = now;
        calmSince = now;
        mix(now);
        begin(now);
        state = State.LIMITING;
    }

    private void relieve() {
        clocks = new double[0];
        clock = 0;
        state = State.RELIEVED;
    }

    private void adapt(long now, long lag) {
        advance(now);
        double carriesNow = (double) admitted / (now - changedAt);
        carried = Math.max(carried, carriesNow);
        if (wasLate && carriesNow > carried / 2) {
            rate *= lag > 2 * maxLag ? MUCH_SLOWER : SLOWER;
        } else {
            rate *= hasRoom(lag) ? MUCH_FASTER : FASTER;
        }
        calmSince = !hasRoom(lag) || refused > 0 ? now : calmSince;
        begin(now);
        if (now - calmSince >= CALM) {
            relieve();
        } else if (now - mixedAt >= MIXED_FOR) {
            mix(now);
        }
    }

    private void advance(long now) {
        clock += rate * (now - clockAt);
        clockAt = now;
    }

    /**
     * Whether the loop takes a request.
     *
     * @param tenant a hash of the id
     */
    synchronized boolean admits(long now, int tenant, double weight) {
        if (state == State.RELIEVED) {
            return true;
        }
        int mixed = tenant * mixer;
        int own = (mixed ^ mixed >>> 16) & CLOCKS - 1;
        if (state == State.COUNTING) {
            clocks[own] += 1 / weight;
            highest = Math.max(highest, clocks[own]);
        } else {
            advance(now);
            if (clocks[own] > clock) {
                refused++;
                return false;
            }
            clocks[own] = Math.max(clocks[own], clock - rate * BURST) + 1 / weight;
        }
        admitted++;
        return true;
    }
}
