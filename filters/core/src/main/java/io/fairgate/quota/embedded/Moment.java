package io.fairgate.quota.embedded;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The present time on both clocks, so that all quotas of one decision see the same time. Read anew for each decision, after
 * its locks were taken: so time does not go back from one decision about a balance to the next.
 */
final class Moment {

    private long nanos;
    private long wallMillis;

    static Moment of(long nanos, long wallMillis) {
        Moment moment = new Moment();
        moment.nanos = nanos;
        moment.wallMillis = wallMillis;
        return moment;
    }

    /** @param calendar null when no quota needs it */
    void read(Scheduler clock, @Nullable InstantSource calendar) {
        nanos = clock.now(TimeUnit.NANOSECONDS);
        if (calendar != null) {
            wallMillis = calendar.millis();
        }
    }

    /** Nanoseconds of the monotonic clock, with an arbitrary origin; differences may wrap around. */
    long nanos() {
        return nanos;
    }

    /** Milliseconds of the wall clock since 1970, rounded down; calendar windows begin at whole milliseconds. */
    long wallMillis() {
        return wallMillis;
    }
}
