package io.fairgate.config;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the list {@code quotas} of a plan or a member. */
final class QuotasReader {
    private static final Map<String, CalendarUnit> CALENDAR =
            Map.of("day", CalendarUnit.DAY, "month", CalendarUnit.MONTH);

    private QuotasReader() {}

    static List<Quota> read(Value value, KnownKeys keys) {
        List<Value> items = value.items("a list of quotas");
        List<Quota> quotas = new ArrayList<>();
        Map<String, Section> byName = new HashMap<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Section section = Section.open(item, keys);
            Quota quota = section == null ? null : quota(section);
            if (section == null || quota == null) {
                continue;
            }
            Section first = byName.putIfAbsent(quota.name(), section);
            if (first == null) {
                quotas.add(quota);
            } else {
                section.mistake(
                        "name",
                        quota.name() + " a second time",
                        "a name of its own; the quota at line %d has this one".formatted(first.line()));
            }
        }
        return quotas;
    }

    private static @Nullable Quota quota(Section section) {
        section.require("name", "what the quota is called in header fields and metrics");
        section.require("limit", "units per window");
        Value per = section.require("per", "the window: a duration such as 1s, or day or month");
        Given given =
                new Given(section).read("name", value -> value.text("a name")).read("limit", Value::whole);
        String window = per == null ? null : per.scalar();
        CalendarUnit unit = window == null ? null : CALENDAR.get(window);
        Quota quota = unit == null ? rate(section, given) : calendar(section, given, unit);
        // What was refused has been replaced, to check the rest.
        return given.has("name") ? quota : null;
    }

    private static @Nullable Quota rate(Section section, Given given) {
        Value zone = section.get("zone");
        if (zone != null && section.get("per") != null) {
            zone.mistake("no zone, because only a quota per day or month has one");
        }
        given.read("burst", Value::whole).read("per", QuotasReader::window);
        return given.accepted(keys -> new Quota.Rate(
                keys.text("name", "unnamed"),
                keys.whole("limit", 1),
                keys.duration("per", Duration.ofSeconds(1)),
                keys.whole("burst", keys.whole("limit", 1))));
    }

    private static @Nullable Duration window(Value value) {
        String text = value.scalar();
        Duration window = text == null ? null : DurationText.parse(text);
        if (window == null) {
            String nearest = text == null ? null : Nearest.to(text, List.of("day", "month"));
            value.mistake(DurationText.EXPECTED
                    + ", or day or month"
                    + (nearest == null ? "" : "; did you mean %s?".formatted(nearest)));
        }
        return window;
    }

    private static @Nullable Quota calendar(Section section, Given given, CalendarUnit unit) {
        Value burst = section.get("burst");
        if (burst != null) {
            burst.mistake("no burst, because only a quota per duration has one");
        }
        Value zone = section.get("zone");
        ZoneId zoneId = zone == null ? ZoneOffset.UTC : zone(zone);
        return given.accepted(
                keys -> new Quota.Calendar(keys.text("name", "unnamed"), keys.whole("limit", 1), unit, zoneId));
    }

    private static ZoneId zone(Value value) {
        String expected = "a time zone such as UTC or Europe/Berlin";
        String text = value.text(expected);
        try {
            return text == null ? ZoneOffset.UTC : ZoneId.of(text);
        } catch (DateTimeException e) {
            String nearest = Nearest.to(value.shown(), ZoneId.getAvailableZoneIds());
            value.mistake(expected + (nearest == null ? "" : "; did you mean %s?".formatted(nearest)));
            return ZoneOffset.UTC;
        }
    }
}
