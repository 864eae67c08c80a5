package io.fairgate.spring.autoconfigure;

import io.fairgate.spring.settings.DurationSetting;

import io.fairgate.policy.QuotaRule;
import io.fairgate.quota.Quota;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One quota of a plan, a member or a group.
 *
 * @param per a duration for a rate; {@code hour}, {@code day}, {@code week} or {@code month} for a calendar quota;
 *     {@code total} for units that do not come back
 * @param within instead of {@code per}: the length of a sliding window
 * @param burst for a rate: units at once after a pause, {@code limit} by default
 * @param zone for a calendar quota: its time zone, UTC by default
 * @param routes the ids of the routes that it applies to; all of them by default
 * @param enforce whether it refuses
 */
public record QuotaProperties(
        @Nullable String name,
        @Nullable Long limit,
        @Nullable String per,
        @Nullable DurationSetting within,
        @Nullable Long burst,
        @Nullable ZoneId zone,
        @Nullable Set<String> routes,
        @DefaultValue("true") boolean enforce) {

    private static final String WINDOWS = "%s, or hour, day, week, month or total".formatted(DurationText.EXPECTED);

    static List<QuotaRule> rules(List<QuotaProperties> quotas, PropertyPath at) {
        List<QuotaRule> rules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (QuotaProperties quota : quotas) {
            PropertyPath own = at.at(rules.size());
            QuotaRule rule = quota.rule(own);
            if (!names.add(rule.quota().name())) {
                throw own.at("name").mistake("%s a second time (expected: a name of its own)".formatted(quota.name()));
            }
            rules.add(rule);
        }
        return List.copyOf(rules);
    }

    private QuotaRule rule(PropertyPath at) {
        // Nothing is not everything: a list that was left empty would put the quota on all routes.
        if (routes != null && (routes.isEmpty() || routes.stream().anyMatch(String::isBlank))) {
            throw at.at("routes").mistake("nothing (expected: at least one id of a route)");
        }
        return new QuotaRule(quota(at), routes == null ? Set.of() : routes, enforce);
    }

    private Quota quota(PropertyPath at) {
        String named = at.at("name").required(name, "what the quota is called");
        long units = at.at("limit").required(limit, "units per window");
        if (within != null) {
            absent(at.at("per"), per, "nothing: within is the window already");
            absent(at.at("burst"), burst, "nothing: only a rate has one");
            absent(at.at("zone"), zone, "nothing: only a calendar quota has one");
            return at.read(() -> new Quota.Sliding(named, units, within.value()));
        }
        String window = at.at("per").required(per, "per or within");
        return switch (window) {
            case "hour" -> calendar(at, named, units, Quota.CalendarUnit.HOUR);
            case "day" -> calendar(at, named, units, Quota.CalendarUnit.DAY);
            case "week" -> calendar(at, named, units, Quota.CalendarUnit.WEEK);
            case "month" -> calendar(at, named, units, Quota.CalendarUnit.MONTH);
            case "total" -> total(at, named, units);
            default -> rate(at, named, units, window);
        };
    }

    private Quota total(PropertyPath at, String named, long units) {
        absent(at.at("burst"), burst, "nothing: only a rate has one");
        absent(at.at("zone"), zone, "nothing: only a calendar quota has one");
        return at.read(() -> new Quota.Total(named, units));
    }

    private Quota calendar(PropertyPath at, String named, long units, Quota.CalendarUnit unit) {
        absent(at.at("burst"), burst, "nothing: a calendar quota has none");
        return at.read(() -> new Quota.Calendar(named, units, unit, zone == null ? ZoneOffset.UTC : zone));
    }

    private Quota rate(PropertyPath at, String named, long units, String window) {
        Duration length = DurationText.parse(window);
        if (length == null) {
            throw at.at("per").mistake("%s (expected: %s)".formatted(window.isEmpty() ? "nothing" : window, WINDOWS));
        }
        absent(at.at("zone"), zone, "nothing: only a calendar quota has one");
        return at.read(() -> new Quota.Rate(named, units, length, burst == null ? units : burst));
    }

    private static void absent(PropertyPath at, @Nullable Object given, String expected) {
        if (given != null) {
            throw at.mistake("%s (expected: %s)".formatted(given, expected));
        }
    }
}
