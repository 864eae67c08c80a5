package io.fairgate.redis.quota;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.journal.UsageKey;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One quota with the key of its usage in Redis. The length of a window is rounded up to microseconds. For any thread. */
final class KeyedQuota {

    static final String PREFIX = "fairgate:quota:{quota}:";

    private static final int PARTS = 60;
    private static final long MICROS_PER_MILLI = 1_000;

    final OwnedQuota owned;
    final String key;

    /** The window that was computed last. */
    private volatile @Nullable CalendarWindow latest;

    KeyedQuota(OwnedQuota owned) {
        this.owned = owned;
        UsageKey usage = UsageKey.of(owned.owner(), owned.quota());
        String kind = usage.owner().kind().name().toLowerCase(Locale.ROOT);
        this.key = PREFIX + String.join(":", kind, usage.owner().name(), usage.name(), usage.window());
    }

    /** What the script needs to know: kind, limit, and two numbers of the kind. */
    String[] numbers(Instant now) {
        Quota quota = owned.quota();
        if (quota instanceof Quota.Rate rate) {
            return numbers("rate", rate.limit(), rate.burst(), micros(rate.per()));
        } else if (quota instanceof Quota.Sliding sliding) {
            return numbers("sliding", sliding.limit(), partMicros(sliding), 0);
        } else if (quota instanceof Quota.Calendar calendar) {
            CalendarWindow window = window(calendar, now);
            return numbers(
                    "window",
                    calendar.limit(),
                    window.startMillis() * MICROS_PER_MILLI,
                    window.endMillis() * MICROS_PER_MILLI);
        }
        return numbers("window", quota.limit(), 0, 0);
    }

    /** How many microseconds after this charge another window begins, or another part of a sliding window. Not for rates. */
    long untilOtherWindow(QuotaLeft charged) {
        if (owned.quota() instanceof Quota.Sliding sliding) {
            return charged.fullMicros() - PARTS * partMicros(sliding);
        }
        boolean hasWindows = owned.quota() instanceof Quota.Calendar;
        return hasWindows ? charged.fullMicros() : Long.MAX_VALUE;
    }

    boolean isRate() {
        return owned.quota() instanceof Quota.Rate;
    }

    private static long partMicros(Quota.Sliding sliding) {
        return (micros(sliding.within()) + PARTS - 1) / PARTS;
    }

    private static String[] numbers(String kind, long limit, long first, long second) {
        return new String[] {kind, Long.toString(limit), Long.toString(first), Long.toString(second)};
    }

    private static long micros(Duration duration) {
        return (duration.toNanos() + 999) / 1_000;
    }

    /** Computing a window takes long, so the latest one is kept. */
    private CalendarWindow window(Quota.Calendar quota, Instant now) {
        CalendarWindow window = latest;
        if (window == null || !window.contains(now.toEpochMilli())) {
            window = CalendarWindow.of(quota, now);
            latest = window;
        }
        return window;
    }
}
