package io.fairgate.quota.embedded;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** The usage of a calendar quota in the window that was reached last, or of a total. */
sealed class WindowUsage extends Usage permits JournaledUsage {

    /** The latest window that a charge has reached; null before the first charge. */
    @Nullable
    CalendarWindow window;

    private @Nullable ZoneId zone;
    /** The units charged to {@link #window}; above the limit after the limit was lowered, or with a debt. */
    long used;

    // The result of the last look or charge. The current window of a zone takes long to compute, so it is kept.
    CalendarWindow windowNow = CalendarWindow.ALWAYS;
    private @Nullable ZoneId zoneNow;
    long usedNow;
    private @Nullable CalendarWindow looked;
    private @Nullable ZoneId lookedIn;

    /** @param quota the quota of this usage, whose limit and zone may have changed */
    private void look(Quota quota, ClockReading now) {
        if (quota instanceof Quota.Calendar calendar) {
            look(calendar, now.wallMillis);
        } else {
            windowNow = CalendarWindow.ALWAYS;
            usedNow = used;
        }
    }

    private void look(Quota.Calendar quota, long millis) {
        zoneNow = quota.zone();
        CalendarWindow last = window;
        if (last != null && last.contains(millis) && quota.zone().equals(zone)) {
            windowNow = last;
            usedNow = used;
            return;
        }
        CalendarWindow current = looked;
        if (current == null || !current.contains(millis) || !quota.zone().equals(lookedIn)) {
            current = CalendarWindow.of(quota, Instant.ofEpochMilli(millis));
            looked = current;
            lookedIn = quota.zone();
        }
        if (last == null || current.isAfter(last)) {
            windowNow = current;
            usedNow = 0;
        } else {
            // The clock was set back into an earlier window. Its count is gone, and a new one would be a refill.
            windowNow = last.isAfter(current) ? last : current;
            usedNow = used;
        }
    }

    @Override
    boolean passes(Quota quota, long units, ClockReading now) {
        look(quota, now);
        return units <= quota.limit() - usedNow;
    }

    @Override
    long charge(long units) {
        keep(usedNow + units);
        return windowNow.startMillis();
    }

    private void keep(long units) {
        window = windowNow;
        zone = zoneNow;
        used = units;
        usedNow = units;
    }

    @Override
    void settle(Quota quota, long mark, long more, ClockReading now) {
        look(quota, now);
        if (more > 0 || windowNow.startMillis() == mark) {
            long most = Math.max(usedNow, 2 * quota.limit());
            keep(Math.max(0, Math.min(most, usedNow + more)));
        }
    }

    @Override
    Balance balance(OwnedQuota quota, long asked, ClockReading now) {
        look(quota.quota(), now);
        long limit = quota.quota().limit();
        Duration untilEnd =
                windowNow.isEndless() ? Balance.NEVER : Duration.ofMillis(windowNow.endMillis() - now.wallMillis);
        Duration retryAfter = asked > limit ? Balance.NEVER : asked > limit - usedNow ? untilEnd : Duration.ZERO;
        return new Balance(quota, Math.max(0, limit - usedNow), usedNow == 0 ? Duration.ZERO : untilEnd, retryAfter);
    }

    @Override
    boolean isNothing(ClockReading now) {
        return used == 0 || isOver(now);
    }

    /** Whether the latest window with a charge is over, if there is one. */
    final boolean isOver(ClockReading now) {
        return window == null || now.wallMillis >= window.endMillis();
    }
}
