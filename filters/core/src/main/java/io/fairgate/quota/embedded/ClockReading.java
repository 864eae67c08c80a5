package io.fairgate.quota.embedded;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * A reading of both clocks, so that all quotas of one decision see the same time. Read anew for each decision, after its locks
 * were taken: so time does not go back from one decision about a balance to the next.
 */
final class ClockReading {

    /** Nanoseconds of the monotonic clock, with an arbitrary origin; differences may wrap around. */
    long nanos;
    /** Milliseconds of the wall clock since 1970, rounded down; calendar windows begin at whole milliseconds. */
    long wallMillis;

    /** @param calendar null when no quota needs it */
    void read(Scheduler clock, @Nullable InstantSource calendar) {
        nanos = clock.now(TimeUnit.NANOSECONDS);
        if (calendar != null) {
            wallMillis = calendar.millis();
        }
    }
}
