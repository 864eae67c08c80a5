package io.fairgate.time;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads durations in Spring's simple style and in ISO 8601. A number without a unit is no duration. */
public final class DurationText {
    /** The text for the "expected" part of error messages. */
    public static final String EXPECTED = "a duration such as 250ms, 1s, 5m, 2h or 1d";

    private static final Pattern SIMPLE = Pattern.compile("(-?[0-9]+)(ms|s|m|h|d)");
    private static final Map<String, ChronoUnit> UNITS = Map.of(
            "ms", ChronoUnit.MILLIS,
            "s", ChronoUnit.SECONDS,
            "m", ChronoUnit.MINUTES,
            "h", ChronoUnit.HOURS,
            "d", ChronoUnit.DAYS);

    private DurationText() {}

    /** A duration as in a policy, such as {@code 2s}. */
    public static String of(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
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
