package io.fairgate.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota.CalendarUnit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalendarWindowTest {

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({
        "HOUR,  UTC,                 2026-03-10T12:59:59Z, 2026-03-10T12:00:00Z, PT1H",
        "HOUR,  Asia/Kolkata,        2026-03-10T12:29:59Z, 2026-03-10T11:30:00Z, PT1H",
        "HOUR,  Europe/Berlin,       2026-10-25T00:30:00Z, 2026-10-25T00:00:00Z, PT1H",
        "HOUR,  Europe/Berlin,       2026-10-25T01:30:00Z, 2026-10-25T01:00:00Z, PT1H",
        "HOUR,  Australia/Lord_Howe, 2026-04-04T14:59:00Z, 2026-04-04T14:00:00Z, PT1H",
        "HOUR,  Australia/Lord_Howe, 2026-04-04T15:10:00Z, 2026-04-04T15:00:00Z, PT30M",
        "HOUR,  Australia/Lord_Howe, 2026-04-04T15:40:00Z, 2026-04-04T15:30:00Z, PT1H",
        "WEEK,  UTC,                 2026-03-09T00:00:00Z, 2026-03-09T00:00:00Z, PT168H",
        "WEEK,  UTC,                 2026-03-15T23:59:59Z, 2026-03-09T00:00:00Z, PT168H",
        "WEEK,  Europe/Berlin,       2026-03-29T12:00:00Z, 2026-03-22T23:00:00Z, PT167H",
        "WEEK,  UTC,                 2027-01-02T12:00:00Z, 2026-12-28T00:00:00Z, PT168H",
        "DAY,   UTC,                 2026-03-10T12:00:00Z, 2026-03-10T00:00:00Z, PT24H",
        "DAY,   Europe/Berlin,       2026-03-29T12:00:00Z, 2026-03-28T23:00:00Z, PT23H",
        "DAY,   Europe/Berlin,       2026-10-25T12:00:00Z, 2026-10-24T22:00:00Z, PT25H",
        "DAY,   Australia/Lord_Howe, 2026-04-05T00:00:00Z, 2026-04-04T13:00:00Z, PT24H30M",
        "DAY,   Australia/Lord_Howe, 2026-10-04T00:00:00Z, 2026-10-03T13:30:00Z, PT23H30M",
        "DAY,   America/Sao_Paulo,   2018-11-04T12:00:00Z, 2018-11-04T03:00:00Z, PT23H",
        "DAY,   America/St_Johns,    2010-11-06T12:00:00Z, 2010-11-06T02:30:00Z, PT24H",
        "DAY,   America/St_Johns,    2010-11-07T03:00:00Z, 2010-11-07T02:30:00Z, PT25H",
        "DAY,   Pacific/Apia,        2011-12-30T09:59:59Z, 2011-12-29T10:00:00Z, PT24H",
        "DAY,   Pacific/Apia,        2011-12-30T10:00:00Z, 2011-12-30T10:00:00Z, PT24H",
        "DAY,   UTC,                 2028-02-29T23:59:59Z, 2028-02-29T00:00:00Z, PT24H",
        "MONTH, UTC,                 2026-01-31T23:59:59Z, 2026-01-01T00:00:00Z, PT744H",
        "MONTH, UTC,                 2026-02-28T23:59:59Z, 2026-02-01T00:00:00Z, PT672H",
        "MONTH, UTC,                 2028-02-29T23:59:59Z, 2028-02-01T00:00:00Z, PT696H",
        "MONTH, UTC,                 2026-12-31T23:59:59Z, 2026-12-01T00:00:00Z, PT744H",
        "MONTH, Europe/Berlin,       2026-03-31T21:59:59Z, 2026-02-28T23:00:00Z, PT743H",
        "MONTH, Europe/Berlin,       2026-10-01T00:00:00Z, 2026-09-30T22:00:00Z, PT745H",
    })
    void the_length_of_a_window_depends_on_its_zone(
            CalendarUnit unit, String zone, Instant now, Instant start, Duration length) {
        assertThat(window(unit, zone, now))
                .isEqualTo(new CalendarWindow(
                        start.toEpochMilli(), start.plus(length).toEpochMilli()));
    }

    /** Around the last clock change at 00:01 (Newfoundland, 2010) and the last skipped day (Samoa, 2011). */
    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "HOUR, 2010-11-05T00:00:00Z, 4",
        "HOUR, 2026-04-03T00:00:00Z, 4",
        "DAY,  2010-10-20T00:00:00Z, 30",
        "DAY,  2011-12-20T00:00:00Z, 30",
        "WEEK, 2011-12-20T00:00:00Z, 60",
    })
    void windows_of_every_zone_have_no_gap_and_no_overlap(CalendarUnit unit, Instant begin, int days) {
        Instant last = begin.plus(Duration.ofDays(days));
        for (String zone : ZoneId.getAvailableZoneIds()) {
            CalendarWindow window = window(unit, zone, begin);
            while (window.endMillis() < last.toEpochMilli()) {
                Instant end = Instant.ofEpochMilli(window.endMillis());
                assertThat(window(unit, zone, end.minusNanos(1))).as(zone).isEqualTo(window);
                CalendarWindow next = window(unit, zone, end);
                assertThat(next.startMillis()).as(zone).isEqualTo(window.endMillis());
                window = next;
            }
        }
    }

    private static CalendarWindow window(CalendarUnit unit, String zone, Instant now) {
        CalendarWindow window = CalendarWindow.of(new Quota.Calendar("any", 1, unit, ZoneId.of(zone)), now);
        assertThat(window.contains(now.toEpochMilli()))
                .as("%s in %s", now, window)
                .isTrue();
        return window;
    }
}
