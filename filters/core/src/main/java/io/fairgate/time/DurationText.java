package io.fairgate.time;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads durations in Spring's simple style and in ISO 8601. A number without a unit is no duration. */
public final class DurationText {
    /** The text for the "expected" part of error messages. */
    public static final String EXPECTED = "a duration such as 250ms, 1s, 5m, 2h or 1d";

    private static final Pattern SIMPLE = Pattern.compile("(-?[0-9]+)(ms|s|m|h|d)");
    private static final Map<String, ChronoUnit> UNITS = new LinkedHashMap<>();

    static {
        UNITS.put("d", ChronoUnit.DAYS);
        UNITS.put("h", ChronoUnit.HOURS);
        UNITS.put("m", ChronoUnit.MINUTES);
        UNITS.put("s", ChronoUnit.SECONDS);
        UNITS.put("ms", ChronoUnit.MILLIS);
    }

    private DurationText() {}

    /** A duration of whole milliseconds as in a policy, such as {@code 2s} or {@code 90m}; others as in ISO 8601. */
    public static String of(Duration duration) {
        for (Map.Entry<String, ChronoUnit> unit : UNITS.entrySet()) {
            Duration one = unit.getValue().getDuration();
            if (!duration.isZero() && one.multipliedBy(duration.dividedBy(one)).equals(duration)) {
                return duration.dividedBy(one) + unit.getKey();
            }
        }
        return duration.isZero() ? "0s" : duration.toString();
    }

    /**
     * Reads a duration. One that is too long for a {@link Duration} becomes the longest one: the records of the core then
     * refuse it and name their bounds.
     *
     * @return null when the text is not a duration
     */
    public static @Nullable Duration parse(String text) {
        Matcher simple = SIMPLE.matcher(text);
        try {
            if (simple.matches()) {
                return Duration.of(
                        Long.parseLong(simple.group(1)), UNITS.getOrDefault(simple.group(2), ChronoUnit.DAYS));
            }
            return text.matches("-?[pP].*") ? Duration.parse(text) : null;
        } catch (NumberFormatException | ArithmeticException e) {
            return Duration.ofSeconds(Long.MAX_VALUE);
        } catch (DateTimeParseException e) {
            return e.getCause() instanceof ArithmeticException ? Duration.ofSeconds(Long.MAX_VALUE) : null;
        }
    }
}
