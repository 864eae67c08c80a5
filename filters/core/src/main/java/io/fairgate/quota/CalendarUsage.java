package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.Instant;

/**
 * What is used of a calendar quota.
 *
 * @param window the latest that was reached; computed once and kept until it ends
 * @param used units charged to it; above the limit when that was lowered
 */
record CalendarUsage(Quota.Calendar quota, CalendarWindow window, long used) implements Usage {

    static CalendarUsage none(Quota.Calendar calendar, CalendarWindow window) {
        return new CalendarUsage(calendar, window, 0);
    }

    /** @param calendar the same unit; limit and zone may have changed */
    CalendarUsage at(Quota.Calendar calendar, Instant now) {
        boolean still = window.contains(now) && quota.zone().equals(calendar.zone());
        CalendarWindow current = still ? window : CalendarWindow.of(calendar, now);
        if (current.isAfter(window)) {
            return none(calendar, current);
        }
        // An earlier window means that the clock was set back: its count is gone, and a fresh one would be a refill.
        return new CalendarUsage(calendar, window.isAfter(current) ? window : current, used);
    }

    @Override
    public CalendarUsage plus(long more) {
        return new CalendarUsage(quota, window, used + more);
    }

    @Override
    public Balance balance(long asked, Moment now) {
        Duration untilEnd = Duration.between(now.wall(), window.end());
        long remaining = Math.max(0, quota.limit() - used);
        Duration retryAfter = asked > quota.limit() ? Balance.NEVER : asked > remaining ? untilEnd : Duration.ZERO;
        return new Balance(quota, remaining, used == 0 ? Duration.ZERO : untilEnd, retryAfter);
    }

    @Override
    public boolean isNothing(Moment now) {
        return at(quota, now.wall()).used == 0;
    }
}
