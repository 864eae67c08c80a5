package io.fairgate.quota;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;

/**
 * One hour, day, week or month of a time zone, from its first instant to the first instant of the next; or all time.
 *
 * <p>A day has 23 to 25 hours, sometimes 23.5, and once a day was skipped (Samoa, 30 December 2011);
 * {@link LocalDate#atStartOfDay(ZoneId)} handles that, also where midnight itself is skipped. An hour is an hour of the zone's
 * clock at the present offset; an hour in which the offset changes ends at the change, and a new one begins.
 *
 * @param startMillis milliseconds since 1970, inclusive
 * @param endMillis milliseconds since 1970, exclusive
 */
public record CalendarWindow(long startMillis, long endMillis) {

    /** The window of a total, which does not end. */
    public static final CalendarWindow ALWAYS = new CalendarWindow(0, Long.MAX_VALUE);

    public static CalendarWindow of(Quota.Calendar quota, Instant now) {
        return quota.per() == Quota.CalendarUnit.HOUR ? hour(quota.zone(), now) : ofDays(quota, now);
    }

    private static CalendarWindow hour(ZoneId zone, Instant now) {
        ZoneOffset offset = zone.getRules().getOffset(now);
        Instant start = now.atOffset(offset).truncatedTo(ChronoUnit.HOURS).toInstant();
        Instant end = start.plus(1, ChronoUnit.HOURS);
        var before = zone.getRules().previousTransition(now.plusNanos(1));
        if (before != null && before.getInstant().isAfter(start)) {
            start = before.getInstant();
        }
        var after = zone.getRules().nextTransition(now);
        if (after != null && after.getInstant().isBefore(end)) {
            end = after.getInstant();
        }
        return new CalendarWindow(start.toEpochMilli(), end.toEpochMilli());
    }

    private static CalendarWindow ofDays(Quota.Calendar quota, Instant now) {
        ZoneId zone = quota.zone();
        LocalDate first = first(now.atZone(zone).toLocalDate(), quota.per());
        LocalDate next = next(first, quota.per());
        // Where clocks are set back just after midnight, the old date occurs twice (Newfoundland until 2011).
        // The new window has begun by then and continues, or an instant would be in no window.
        while (!now.isBefore(start(next, zone))) {
            first = next;
            next = next(first, quota.per());
        }
        return new CalendarWindow(
                start(first, zone).toEpochMilli(), start(next, zone).toEpochMilli());
    }

    private static LocalDate first(LocalDate today, Quota.CalendarUnit unit) {
        return switch (unit) {
            case HOUR, DAY -> today;
            case WEEK -> today.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
            case MONTH -> today.withDayOfMonth(1);
        };
    }

    private static LocalDate next(LocalDate first, Quota.CalendarUnit unit) {
        return switch (unit) {
            case HOUR, DAY -> first.plusDays(1);
            case WEEK -> first.plusWeeks(1);
            case MONTH -> first.plusMonths(1);
        };
    }

    private static Instant start(LocalDate date, ZoneId zone) {
        return date.atStartOfDay(zone).toInstant();
    }

    public boolean contains(long millis) {
        return millis >= startMillis && millis < endMillis;
    }

    public boolean isEndless() {
        return endMillis == Long.MAX_VALUE;
    }

    /** Whether more than its own length has passed since its end. */
    public boolean endedLongBefore(long millis) {
        return !isEndless() && millis - endMillis > endMillis - startMillis;
    }

    /** Whether it lies wholly after {@code other}. */
    public boolean isAfter(CalendarWindow other) {
        return startMillis >= other.endMillis;
    }
}
