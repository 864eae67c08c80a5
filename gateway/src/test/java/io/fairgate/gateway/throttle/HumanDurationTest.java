package io.fairgate.gateway.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that the humantime library accepts, and texts that it does not. */
class HumanDurationTest {

    @Test
    void every_unit_has_all_its_names() {
        Map<Duration, List<String>> names = Map.of(
                Duration.ofNanos(3), List.of("ns", "nsec", "nanos"),
                Duration.ofNanos(3_000), List.of("us", "usec", "µs"),
                Duration.ofMillis(3), List.of("ms", "msec", "millis"),
                Duration.ofSeconds(3), List.of("s", "sec", "secs", "second", "seconds"),
                Duration.ofMinutes(3), List.of("m", "min", "mins", "minute", "minutes"),
                Duration.ofHours(3), List.of("h", "hr", "hrs", "hour", "hours"),
                Duration.ofDays(3), List.of("d", "day", "days"),
                Duration.ofDays(21), List.of("w", "wk", "wks", "week", "weeks"),
                Duration.ofSeconds(3 * 2_630_016L), List.of("M", "month", "months"),
                Duration.ofSeconds(3 * 31_557_600L), List.of("y", "yr", "yrs", "year", "years"));
        names.forEach((duration, units) -> units.forEach(
                unit -> assertThat(HumanDuration.parse("3" + unit)).as(unit).isEqualTo(duration)));
    }

    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "0s, PT0S",
        "2h 37min, PT2H37M",
        "1m40s, PT1M40S",
        "1m 40s, PT1M40S",
        "'  5  m  ', PT5M",
        "1 0s, PT10S",
        "1s 1s, PT2S",
        "1500ms, PT1.5S",
        "1.5h, PT1H30M",
        "4.2s, PT4.2S",
        "0.5us, PT0.0000005S",
        "1.5m, PT1M30S",
        "1 . 5 h, PT1H30M",
        "0.25d12h, PT18H",
        "900ms 200ms, PT1.1S",
        "1year 2months 3days 4h 5m 6s 7ms 8us 9ns, PT10303H12M18.007008009S",
        "18446744073709551615ns, PT18446744073.709551615S",
        "18446744073709551615us, PT18446744073709.551615S",
    })
    void spans_add_up(String text, Duration duration) {
        assertThat(HumanDuration.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "5",
                "00",
                " 0",
                "s",
                "-5s",
                "+5s",
                "5 x",
                "5S",
                "5MS",
                "1.s",
                "1.",
                ".5s",
                "1.5",
                "1s.",
                "1s 5",
                "1s,2s",
                "1,5s",
                "1e3s",
                "5m sec",
                "2 hours min",
                "0x5s",
                "٣s",
                "1.5ns",
                "1.0ns",
                "0.0001us",
                "0.0001h",
                "Infinity",
                "null",
                "1s\0",
                "18446744073709551616ns",
                "99999999999999999999999999999y",
                "0.00000000000000000001s"
            })
    void other_texts_are_no_duration(String text) {
        assertThat(HumanDuration.parse(text)).isNull();
    }

    @Test
    void a_too_long_duration_becomes_the_longest() {
        assertThat(HumanDuration.parse("18446744073709551615s")).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(HumanDuration.parse("18446744073709551615s 1s")).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(HumanDuration.parse("18446744073709551615m")).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(HumanDuration.parse("300000000000years")).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(HumanDuration.parse("200000000000years")).isEqualTo(Duration.ofDays(73_050_000_000_000L));
        assertThat(HumanDuration.parse("0".repeat(100_000) + "7s")).isEqualTo(Duration.ofSeconds(7));
    }
}
