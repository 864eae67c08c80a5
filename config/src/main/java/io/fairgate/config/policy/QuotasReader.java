package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Nearest;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.QuotaRule;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.time.DurationText;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the list {@code quotas} of a plan, a member or a group. */
final class QuotasReader {
    private static final String TOTAL = "total";
    private static final Map<String, CalendarUnit> CALENDAR = Map.of(
            "hour", CalendarUnit.HOUR, "day", CalendarUnit.DAY, "week", CalendarUnit.WEEK, "month", CalendarUnit.MONTH);
    private static final List<String> WORDS = List.of("hour", "day", "week", "month", TOTAL);
    private static final String WORDS_EXPECTED = ", or hour, day, week, month or total";

    /** The routes that quotas may name; null when they cannot be determined. */
    private final @Nullable Set<String> routes;

    /** @param routes the ids of the file's routes; null when they cannot be determined */
    QuotasReader(@Nullable Set<String> routes) {
        this.routes = routes;
    }

    List<QuotaRule> read(Value value, KnownKeys keys) {
        List<Value> items = value.items("a list of quotas");
        List<QuotaRule> rules = new ArrayList<>();
        Map<String, Section> byName = new HashMap<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Section section = Section.open(item, keys);
            QuotaRule rule = section == null ? null : rule(section);
            if (section == null || rule == null) {
                continue;
            }
            String name = rule.quota().name();
            Section first = byName.putIfAbsent(name, section);
            if (first == null) {
                rules.add(rule);
            } else {
                section.mistake(
                        "name",
                        name + " a second time",
                        "a name of its own; the quota at %s has this one".formatted(first.place()));
            }
        }
        return rules;
    }

    private @Nullable QuotaRule rule(Section section) {
        Set<String> named = routes(section.get("routes"));
        Value enforce = section.get("enforce");
        boolean enforced = enforce == null || !Boolean.FALSE.equals(enforce.truth());
        Quota quota = quota(section);
        return quota == null ? null : new QuotaRule(quota, named, enforced);
    }

    private Set<String> routes(@Nullable Value value) {
        String expected = "a list of at least one id of a route";
        List<Value> items = value == null ? null : value.items(expected);
        if (value != null && items != null && items.isEmpty()) {
            value.mistake(expected);
        }
        Set<String> named = new LinkedHashSet<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            String id = item.text("the id of a route");
            if (id != null && Names.isKnown(id, routes, item, "a route")) {
                named.add(id);
            }
        }
        return named;
    }

    private static @Nullable Quota quota(Section section) {
        section.require("name", "what the quota is called in header fields and metrics");
        section.require("limit", "units per window");
        Given given =
                new Given(section).read("name", value -> value.text("a name")).read("limit", Value::whole);
        Quota quota = windowed(section, given);
        // A placeholder stands for a refused name, so that the rest is checked.
        return given.has("name") ? quota : null;
    }

    private static @Nullable Quota windowed(Section section, Given given) {
        Value within = section.get("within");
        if (within != null || section.mentions("within")) {
            return sliding(section, given);
        }
        Value per = section.require(
                "per", "the window: a duration such as 1s" + WORDS_EXPECTED + "; or within, with a duration");
        String window = per == null ? null : per.scalar();
        CalendarUnit unit = window == null ? null : CALENDAR.get(window);
        if (unit != null) {
            return calendar(section, given, unit);
        }
        return TOTAL.equals(window) ? total(section, given) : rate(section, given);
    }

    private static @Nullable Quota sliding(Section section, Given given) {
        refuse(section, "per", "no per, because within is the window already");
        refuse(section, "burst", "no burst, because only a quota per duration has one");
        refuse(section, "zone", "no zone, because only a quota of the calendar has one");
        given.read("within", Value::duration);
        return given.accepted(keys -> new Quota.Sliding(
                keys.text("name", "unnamed"), keys.whole("limit", 1), keys.duration("within", Duration.ofSeconds(1))));
    }

    private static @Nullable Quota total(Section section, Given given) {
        refuse(section, "burst", "no burst, because only a quota per duration has one");
        refuse(section, "zone", "no zone, because only a quota of the calendar has one");
        return given.accepted(keys -> new Quota.Total(keys.text("name", "unnamed"), keys.whole("limit", 1)));
    }

    private static @Nullable Quota rate(Section section, Given given) {
        if (section.get("per") != null) {
            refuse(section, "zone", "no zone, because only a quota of the calendar has one");
        }
        given.read("burst", Value::whole).read("per", QuotasReader::window);
        return given.accepted(keys -> new Quota.Rate(
                keys.text("name", "unnamed"),
                keys.whole("limit", 1),
                keys.duration("per", Duration.ofSeconds(1)),
                keys.whole("burst", keys.whole("limit", 1))));
    }

    private static void refuse(Section section, String key, String expected) {
        Value value = section.get(key);
        if (value != null) {
            value.mistake(expected);
        }
    }

    private static @Nullable Duration window(Value value) {
        String text = value.scalar();
        Duration window = text == null ? null : DurationText.parse(text);
        if (window == null) {
            String nearest = text == null ? null : Nearest.to(text, WORDS);
            value.mistake(DurationText.EXPECTED
                    + WORDS_EXPECTED
                    + (nearest == null ? "" : "; did you mean %s?".formatted(nearest)));
        }
        return window;
    }

    private static @Nullable Quota calendar(Section section, Given given, CalendarUnit unit) {
        refuse(section, "burst", "no burst, because only a quota per duration has one");
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
