package io.fairgate.quota;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;

/**
 * One day or month of a zone, from its first instant to the first of the next.
 *
 * <p>Days have 23 to 25 hours, sometimes 23.5, once none at all (Samoa, 30 December 2011); {@link
 * LocalDate#atStartOfDay(ZoneId)} knows, also where midnight itself is skipped.
 *
 * @param start inclusive
 * @param end exclusive
 */
record CalendarWindow(Instant start, Instant end) {

    static CalendarWindow of(Quota.Calendar quota, Instant now) {
        ZoneId zone = quota.zone();
        LocalDate today = now.atZone(zone).toLocalDate();
        LocalDate first = quota.per() == Quota.CalendarUnit.DAY ? today : today.withDayOfMonth(1);
        LocalDate next = next(first, quota.per());
        // Where clocks go back from just after midnight, the old date comes a second time (Newfoundland until 2011).
        // The new window has begun by then and goes on, or an instant would lie in none.
        while (!now.isBefore(start(next, zone))) {
            first = next;
            next = next(first, quota.per());
        }
        return new CalendarWindow(start(first, zone), start(next, zone));
    }

    private static LocalDate next(LocalDate first, Quota.CalendarUnit unit) {
        return unit == Quota.CalendarUnit.DAY ? first.plusDays(1) : first.plusMonths(1);
    }

    private static Instant start(LocalDate date, ZoneId zone) {
        return date.atStartOfDay(zone).toInstant();
    }

    boolean contains(Instant instant) {
        return !instant.isBefore(start) && instant.isBefore(end);
    }

    /** Whether it lies wholly after {@code other}. */
    boolean isAfter(CalendarWindow other) {
        return !start.isBefore(other.end);
    }
}
