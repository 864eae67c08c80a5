package io.fairgate.lease;

import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers that only grow: who is granted something later gets a larger one, so that a store can refuse a holder that was
 * paused for longer than it may hold.
 *
 * <p>They follow the wall clock in microseconds, which fit into the 53 bits of a number in JavaScript until the year
 * 2255, and are counted on where the clock stands still or goes back. So they grow across a restart as well, unless the
 * clock was set back meanwhile by more than the restart took.
 *
 * <p>From any thread; never blocks.
 */
public final class FencingTokens {

    private static final long MICROS_PER_MILLI = 1000;

    private final InstantSource clock;
    private final AtomicLong last = new AtomicLong();

    public FencingTokens(InstantSource clock) {
        this.clock = clock;
    }

    public long next() {
        long now = clock.millis() * MICROS_PER_MILLI;
        return last.updateAndGet(before -> Math.max(before + 1, now));
    }
}
