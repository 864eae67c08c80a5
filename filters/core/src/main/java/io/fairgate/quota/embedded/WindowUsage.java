package io.fairgate.quota.embedded;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.Quota;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.OwnedQuota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** The usage of a calendar quota in the window that was reached last, or of a total. */
final class WindowUsage extends Usage {

    /** The latest window that a charge has reached; null before the first charge. */
    private @Nullable CalendarWindow window;

    private @Nullable ZoneId zone;
    /** The units charged to {@link #window}; above the limit after the limit was lowered, or with a debt. */
    private long used;

    private final @Nullable JournaledUsage journaled;

    // The result of the last look. The current window of a zone takes long to compute, so it is kept.
    private CalendarWindow windowNow = CalendarWindow.ALWAYS;
    private @Nullable ZoneId zoneNow;
    private long usedNow;
    private @Nullable CalendarWindow looked;
    private @Nullable ZoneId lookedIn;

    /** @param journaled the journal entry of the usage, with what an earlier process wrote; null without a journal */
    WindowUsage(@Nullable JournaledUsage journaled) {
        this.journaled = journaled;
        JournalRecord found = journaled == null ? null : journaled.found();
        if (found != null) {
            window = found.window();
            used = found.used();
        }
    }

    /** @param quota the quota of this usage, whose limit and zone may have changed */
    private void look(Quota quota, Moment now) {
        if (quota instanceof Quota.Calendar calendar) {
            look(calendar, now.wallMillis());
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
    boolean passes(Quota quota, long units, Moment now) {
        look(quota, now);
        return units <= quota.limit() - usedNow;
    }

    @Override
    boolean isCovered(Quota quota, long units) {
        return journaled == null || journaled.covers(windowNow, usedNow, units, quota.limit());
    }

    @Override
    void await(long units) {
        if (journaled != null) {
            journaled.await(units);
        }
    }

    @Override
    void follow() {
        if (journaled != null) {
            journaled.follow();
        }
    }

    @Override
    long charge(long units) {
        keep(usedNow + units);
        if (journaled != null) {
            journaled.charged(windowNow, used);
        }
        return windowNow.startMillis();
    }

    private void keep(long units) {
        window = windowNow;
        zone = zoneNow;
        used = units;
    }

    @Override
    void settle(Quota quota, long mark, long more, Moment now) {
        look(quota, now);
        if (more > 0 || windowNow.startMillis() == mark) {
            long most = Math.max(usedNow, 2 * quota.limit());
            keep(Math.max(0, Math.min(most, usedNow + more)));
            if (journaled != null) {
                journaled.settled(windowNow, used, quota.limit());
            }
        }
    }

    @Override
    Balance balance(OwnedQuota quota, long asked, Moment now) {
        look(quota.quota(), now);
        long limit = quota.quota().limit();
        Duration untilEnd =
                windowNow.isEndless() ? Balance.NEVER : Duration.ofMillis(windowNow.endMillis() - now.wallMillis());
        Duration retryAfter = asked > limit ? Balance.NEVER : asked > limit - usedNow ? untilEnd : Duration.ZERO;
        return new Balance(quota, Math.max(0, limit - usedNow), usedNow == 0 ? Duration.ZERO : untilEnd, retryAfter);
    }

    void writeExactly() {
        CalendarWindow last = window;
        if (journaled != null && last != null) {
            journaled.writeExactly(last, used);
        }
    }

    @Override
    boolean isBeingWritten() {
        return journaled != null && journaled.isWriting();
    }

    @Override
    boolean isNothing(Moment now) {
        CalendarWindow last = window;
        if (journaled == null) {
            return last == null || used == 0 || now.wallMillis() >= last.endMillis();
        }
        // The journal has a chunk more than what is used, and a new usage would find that.
        return (last == null || now.wallMillis() >= last.endMillis()) && journaled.isOver(now.wallMillis());
    }
}
