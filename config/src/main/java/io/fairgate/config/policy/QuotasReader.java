package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Suggestions;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the list {@code quotas} of a plan, a member or a group.
 *
 * @param known the routes that quotas may name; null when they cannot be determined
 */
record QuotasReader(@Nullable Set<String> known) {
    private static final String TOTAL = "total";
    private static final List<String> WINDOWS = List.of("hour", "day", "week", "month", TOTAL);
    private static final String NO_ZONE = "no zone, because only a quota of the calendar has one";
    private static final String NO_BURST = "no burst, because only a quota per duration has one";

    /** The quotas of a plan, a member or a group that have no mistake. */
    List<QuotaRule> read(Section owner, KnownKeys keys) {
        List<QuotaRule> rules = new ArrayList<>();
        Map<String, Section> byName = new HashMap<>();
        for (Value item : owner.items("quotas")) {
            Section section = Section.open(item, keys);
            Set<String> ids = routes(section);
            Quota quota = quota(section);
            // Without a name there is one mistake already, and the quota has a name that stands for it.
            if (quota == null || !section.has("name")) {
                continue;
            }
            Section first = byName.putIfAbsent(quota.name(), section);
            if (first == null) {
                rules.add(new QuotaRule(quota, ids, section.truth("enforce", true)));
            } else {
                section.mistake(
                        "name",
                        quota.name() + " a second time",
                        "a unique name; the quota at %s has this one".formatted(first.place()));
            }
        }
        return rules;
    }

    private Set<String> routes(Section section) {
        Set<String> ids = new LinkedHashSet<>();
        for (Value item : section.items("routes")) {
            String id = item.text("the id of a route");
            if (id != null && Names.isKnown(id, known, item, "route")) {
                ids.add(id);
            }
        }
        return ids;
    }

    private static @Nullable Quota quota(Section section) {
        if (section.mentions("within")) {
            refuse(section, "per", "no per, because within is the window already");
            refuse(section, "burst", NO_BURST);
            refuse(section, "zone", NO_ZONE);
            return section.accepted(quota ->
                    new Quota.Sliding(name(quota), limit(quota), quota.duration("within", Duration.ofSeconds(1))));
        }
        if (!section.mentions("per")) {
            section.mistake("per", "missing", PolicyKeys.WINDOW + "; or within, with a duration");
        }
        String window = section.text("per", "1s");
        if (window.equals(TOTAL)) {
            refuse(section, "burst", NO_BURST);
            refuse(section, "zone", NO_ZONE);
            return section.accepted(quota -> new Quota.Total(name(quota), limit(quota)));
        } else if (WINDOWS.contains(window)) {
            refuse(section, "burst", NO_BURST);
            CalendarUnit unit = CalendarUnit.valueOf(window.toUpperCase(Locale.ROOT));
            ZoneId zone = zone(section.get("zone"), section.text("zone", "Z"));
            return section.accepted(quota -> new Quota.Calendar(name(quota), limit(quota), unit, zone));
        }
        return rate(section, window);
    }

    private static @Nullable Quota rate(Section section, String window) {
        Duration per = DurationText.parse(window);
        Value given = section.get("per");
        if (given != null && per == null) {
            given.mistake(PolicyKeys.WINDOW + Suggestions.didYouMean(window, WINDOWS));
        } else if (given != null) {
            refuse(section, "zone", NO_ZONE);
        }
        return section.accepted(quota -> new Quota.Rate(
                name(quota),
                limit(quota),
                per == null ? Duration.ofSeconds(1) : per,
                quota.whole("burst", limit(quota))));
    }

    private static String name(Section quota) {
        return quota.text("name", "unnamed");
    }

    private static long limit(Section quota) {
        return quota.whole("limit", 1);
    }

    private static void refuse(Section section, String key, String expected) {
        Value value = section.get(key);
        if (value != null) {
            value.mistake(expected);
        }
    }

    private static ZoneId zone(@Nullable Value value, String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            if (value != null) {
                value.mistake("a time zone such as UTC or Europe/Berlin"
                        + Suggestions.didYouMean(name, ZoneId.getAvailableZoneIds()));
            }
            return ZoneOffset.UTC;
        }
    }
}
