package io.fairgate.redis.quota;

import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/** The time of the ledger, as far as its last answer says. For any thread. */
final class LedgerTime {

    private static final long MICROS_PER_SECOND = 1_000_000;

    private final Scheduler clock;
    /** What the ledger's clock shows more than ours, in microseconds. */
    private volatile long ahead;

    /** @param first the clock that counts before the first answer */
    LedgerTime(Scheduler clock, InstantSource first) {
        this.clock = clock;
        answered(TimeUnit.MILLISECONDS.toMicros(first.millis()));
    }

    void answered(long micros) {
        ahead = micros - clock.now(TimeUnit.MICROSECONDS);
    }

    Instant now() {
        long micros = ahead + clock.now(TimeUnit.MICROSECONDS);
        return Instant.ofEpochSecond(
                Math.floorDiv(micros, MICROS_PER_SECOND), Math.floorMod(micros, MICROS_PER_SECOND) * 1_000);
    }
}
