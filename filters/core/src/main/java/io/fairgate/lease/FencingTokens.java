package io.fairgate.lease;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Fencing tokens: numbers that only grow. A later grant gets a larger token, so that a store can refuse a holder that was
 * paused for longer than it may hold.
 *
 * <p>A token is the wall clock in microseconds, which fits into the 53 bits of a number in JavaScript until the year 2255.
 * While the clock stands still or goes back, tokens grow by one. So they grow across a restart as well, unless the clock was
 * set back meanwhile by more than the restart took. With a {@link Mark} they grow even then.
 *
 * <p>Safe for any thread; only the constructor with a {@link Mark} blocks.
 */
public final class FencingTokens {

    /** A number above every token so far, which is stored outside the process. */
    public interface Mark {

        /** The mark that was written last; 0 when none was. Blocks. */
        long read() throws IOException;

        /** Stores the mark durably before it returns. Blocks. */
        void write(long mark) throws IOException;
    }

    private static final long MICROS_PER_MILLI = 1000;

    /** How far ahead of the tokens the mark is written, in microseconds. A restart skips that much, so it must not be long. */
    private static final long AHEAD = Duration.ofMinutes(10).toNanos() / 1000;

    /**
     * This close to the mark, tokens no longer follow the clock and grow by one: while the mark cannot be written, this many
     * tokens are left, more than are granted in a day.
     */
    private static final long SPARE = AHEAD / 2;

    private final InstantSource clock;
    private final AtomicLong last;
    private final @Nullable Mark mark;
    private final Executor writer;
    private final AtomicBoolean writing = new AtomicBoolean();
    private volatile long written;

    /** Tokens from the clock alone, without a stored mark: as if one had been written above all tokens. */
    public FencingTokens(InstantSource clock) {
        this.clock = clock;
        this.last = new AtomicLong();
        this.mark = null;
        this.writer = Runnable::run;
        this.written = Long.MAX_VALUE;
    }

    /**
     * Continues above the stored mark, and keeps the mark ahead of the tokens. Blocks until the first mark is written.
     *
     * @param writer runs the writing of later marks; the mark reports its failures itself, and a later token tries again
     * @throws IOException when the mark cannot be read or written
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
     * The next token: larger than all before it in this process and, with a mark, in earlier processes. It is at least the
     * time in microseconds, unless the mark cannot be written: then tokens grow by one. Safe for any thread; does not block
     * unless the {@code writer} runs its tasks on the calling thread.
     */
    public long next() {
        long now = micros();
        long next = last.updateAndGet(before -> Math.max(before + 1, Math.min(now, written - SPARE)));
        if (Math.max(now, next) > written - AHEAD + AHEAD / 4) {
            writeAhead();
        }
        return next;
    }

    /** Makes all later tokens larger than {@code earlier}, which was granted before a restart. */
    public void continueAbove(long earlier) {
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
            Objects.requireNonNull(mark).write(ahead);
            written = ahead;
        } catch (IOException | RuntimeException e) {
            // The mark reports its failures itself; a later token tries again.
        } finally {
            writing.set(false);
        }
    }
}
