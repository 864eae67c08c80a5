package io.fairgate.lease;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers that only grow: who is granted something later gets a larger one, so that a store can refuse a holder that was
 * paused for longer than it may hold.
 *
 * <p>They follow the wall clock in microseconds, which fit into the 53 bits of a number in JavaScript until the year
 * 2255, and are counted on where the clock stands still or goes back. So they grow across a restart as well, unless the
 * clock was set back meanwhile by more than the restart took. With a {@link Mark} they grow even then.
 *
 * <p>From any thread; never blocks.
 */
public final class FencingTokens {

    /** Is above every number that was given out, and outlives the process. */
    public interface Mark {

        /** The latest that was written, 0 when none was. Blocks. */
        long read() throws IOException;

        /** It is kept when this returns. Blocks. */
        void write(long mark) throws IOException;
    }

    private static final long MICROS_PER_MILLI = 1000;

    /** How far the mark is written ahead; a restart skips that much, so it must not be long. */
    private static final long AHEAD = Duration.ofMinutes(10).toNanos() / 1000;

    /**
     * So far below the mark they do not follow the clock any more, and count one by one: while it cannot be written, this
     * many are left, which nobody grants in a day.
     */
    private static final long SPARE = AHEAD / 2;

    private final InstantSource clock;
    private final AtomicLong last;
    private final Mark mark;
    private final Executor writer;
    private final AtomicBoolean writing = new AtomicBoolean();
    private volatile long written;

    /** Nothing outlives the process but the clock. */
    public FencingTokens(InstantSource clock) {
        this.clock = clock;
        this.last = new AtomicLong();
        this.mark = new Mark() {
            @Override
            public long read() {
                return 0;
            }

            @Override
            public void write(long mark) {}
        };
        this.writer = Runnable::run;
        this.written = Long.MAX_VALUE;
    }

    /**
     * Goes on above the mark, and keeps it ahead of what is given out. Blocks until the first one is written.
     *
     * @param writer runs what writes the later ones; a failure is for the mark to tell, and is tried again
     */
    public FencingTokens(InstantSource clock, Mark mark, Executor writer) throws IOException {
        this.clock = clock;
        this.mark = mark;
        this.writer = writer;
        long before = mark.read();
        this.last = new AtomicLong(before);
        this.written = Math.max(before, micros()) + AHEAD;
        mark.write(written);
    }

    /**
     * The next one: larger than all before it, of this process and, where there is a mark, of those before it; at least the
     * time in microseconds unless the mark cannot be written, when they grow by one. From any thread; does not block.
     */
    public long next() {
        long now = micros();
        long next = last.updateAndGet(before -> Math.max(before + 1, Math.min(now, written - SPARE)));
        if (Math.max(now, next) > written - AHEAD + AHEAD / 4) {
            writeAhead();
        }
        return next;
    }

    /** The next number is larger than this one, which was given out before a restart. */
    public void goOnAbove(long earlier) {
        last.accumulateAndGet(earlier, Math::max);
    }

    private long micros() {
        return clock.millis() * MICROS_PER_MILLI;
    }

    private void writeAhead() {
        if (writing.compareAndSet(false, true)) {
            try {
                writer.execute(this::write);
            } catch (RuntimeException shutDown) {
                writing.set(false);
            }
        }
    }

    private void write() {
        try {
            long ahead = Math.max(last.get(), micros()) + AHEAD;
            mark.write(ahead);
            written = ahead;
        } catch (IOException | RuntimeException e) {
            // Told by the mark; the next number tries again.
        } finally {
            writing.set(false);
        }
    }
}
