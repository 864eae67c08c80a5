package io.fairgate.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota.CalendarUnit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CalendarWindowTest {

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({
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
    void a_window_is_as_long_as_its_zone_makes_it(
            CalendarUnit unit, String zone, Instant now, Instant start, Duration length) {
        assertThat(window(unit, zone, now)).isEqualTo(new CalendarWindow(start, start.plus(length)));
    }

    /** Around the last change at one past midnight (Newfoundland, 2010) and the last day left out (Samoa, 2011). */
    @ParameterizedTest
    @ValueSource(strings = {"2010-10-20T00:00:00Z", "2011-12-20T00:00:00Z"})
    void days_of_every_zone_follow_each_other_without_gap_or_overlap(Instant begin) {
        for (String zone : ZoneId.getAvailableZoneIds()) {
            Instant last = begin.plus(Duration.ofDays(30));
            CalendarWindow day = window(CalendarUnit.DAY, zone, begin);
            while (day.end().isBefore(last)) {
                assertThat(window(CalendarUnit.DAY, zone, day.end().minusNanos(1)))
                        .as(zone)
                        .isEqualTo(day);
                CalendarWindow next = window(CalendarUnit.DAY, zone, day.end());
                assertThat(next.start()).as(zone).isEqualTo(day.end());
                day = next;
            }
        }
    }

    private static CalendarWindow window(CalendarUnit unit, String zone, Instant now) {
        CalendarWindow window = CalendarWindow.of(new Quota.Calendar("any", 1, unit, ZoneId.of(zone)), now);
        assertThat(window.contains(now)).as("%s in %s", now, window).isTrue();
        return window;
    }
}
