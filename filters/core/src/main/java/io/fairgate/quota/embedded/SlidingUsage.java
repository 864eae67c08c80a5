package io.fairgate.quota.embedded;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.util.Arrays;

/**
 * The usage of a sliding window: a ring of counts, one for each sixtieth of the window. A window of any position touches at
 * most 61 of those parts, and all of them are counted: so no window holds more than the limit. The price is precision:
 * units come back when their whole part has left the window, up to a sixtieth of the window (and 60 ns) later than they could.
 */
final class SlidingUsage extends Usage {

    static final int PARTS = 60;

    private final long partNanos;
    private final long originNanos;
    /** The counts of the latest parts; the count of a part is at its number modulo the length. */
    private final long[] counts = new long[PARTS + 1];

    /** The number of the latest part that was reached. */
    private long latest;

    private long used;

    SlidingUsage(Duration within, long nowNanos) {
        partNanos = (within.toNanos() + PARTS - 1) / PARTS;
        originNanos = nowNanos;
    }

    /** Clears the parts that no window reaches any more. That depends only on time, so a query may do it. */
    private void look(ClockReading now) {
        long current = (now.nanos - originNanos) / partNanos;
        if (current - latest > PARTS) {
            if (used > 0) {
                Arrays.fill(counts, 0);
                used = 0;
            }
            latest = current;
        }
        while (latest < current) {
            latest++;
            used -= counts[place(latest)];
            counts[place(latest)] = 0;
        }
    }

    private int place(long part) {
        return (int) (part % counts.length);
    }

    @Override
    boolean passes(Quota quota, long units, ClockReading now) {
        look(now);
        return units <= quota.limit() - used;
    }

    @Override
    long charge(long units) {
        add(latest, units);
        return latest;
    }

    private void add(long part, long units) {
        counts[place(part)] += units;
        used += units;
    }

    @Override
    void settle(Quota quota, long mark, long more, ClockReading now) {
        look(now);
        if (more > 0) {
            add(latest, Math.min(more, Math.max(0, 2 * quota.limit() - used)));
        } else if (latest - mark <= PARTS) { // else its window is closed
            add(mark, Math.max(more, -counts[place(mark)]));
        }
    }

    @Override
    Balance balance(OwnedQuota quota, long asked, ClockReading now) {
        look(now);
        long limit = quota.quota().limit();
        long remaining = Math.max(0, limit - used);
        Duration retryAfter = asked > limit
                ? Balance.NEVER
                : asked <= limit - used ? Duration.ZERO : untilReturned(used + asked - limit, now);
        return new Balance(quota, remaining, used == 0 ? Duration.ZERO : untilReturned(used, now), retryAfter);
    }

    /** The time until at least that many of the used units have left every window. */
    private Duration untilReturned(long units, ClockReading now) {
        long returned = 0;
        long part = latest - PARTS - 1;
        while (returned < units) {
            part++;
            returned += part < 0 ? 0 : counts[place(part)];
        }
        long leaves = originNanos + (part + PARTS + 1) * partNanos;
        return Duration.ofNanos(leaves - now.nanos);
    }

    @Override
    boolean isNothing(ClockReading now) {
        look(now);
        return used == 0;
    }
}
