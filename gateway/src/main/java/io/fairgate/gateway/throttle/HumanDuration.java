package io.fairgate.gateway.throttle;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Durations in the format of Rust's humantime library (2.3): {@code 2h 37min}, {@code 1m40s}, {@code 1.5h}.
 *
 * <p>It refuses what that library refuses, so that the same requests fail: spaces are allowed everywhere except within a unit;
 * a unit may occur twice; numbers are unsigned 64-bit; a fraction must result in whole nanoseconds, or in whole seconds for
 * hours and longer units. Only sums are not limited to 64 bits.
 */
final class HumanDuration {

    private static final String SPACE = "\\p{javaWhitespace}\\p{javaSpaceChar}";
    /** A whole number, a fraction and a unit; possessive, so that a long text takes no longer than its length. */
    private static final Pattern SPAN =
            Pattern.compile("\\G([0-9%1$s]++)(?:\\.([0-9%1$s]++))?+([A-Za-zµ]++)[%1$s]*+".formatted(SPACE));

    private static final Pattern SPACES = Pattern.compile("[%s]+".formatted(SPACE));

    private static final int MOST_DECIMALS = 19;
    private static final int NANOSECONDS = 9;
    private static final BigDecimal LONGEST = BigDecimal.valueOf(Long.MAX_VALUE);

    /** @param decimals how many decimals of a second a fraction of the unit may result in */
    private record Unit(BigDecimal seconds, int decimals) {}

    private static final Map<String, Unit> UNITS = new HashMap<>();

    static {
        unit("0.000000001", NANOSECONDS, "ns nsec nanos");
        unit("0.000001", NANOSECONDS, "us usec µs");
        unit("0.001", NANOSECONDS, "ms msec millis");
        unit("1", NANOSECONDS, "s sec secs second seconds");
        unit("60", NANOSECONDS, "m min mins minute minutes");
        unit("3600", 0, "h hr hrs hour hours");
        unit("86400", 0, "d day days");
        unit("604800", 0, "w wk wks week weeks");
        unit("2630016", 0, "M month months");
        unit("31557600", 0, "y yr yrs year years");
    }

    private static void unit(String seconds, int decimals, String names) {
        for (String name : names.split(" ", -1)) {
            UNITS.put(name, new Unit(new BigDecimal(seconds), decimals));
        }
    }

    private HumanDuration() {}

    /**
     * Reads a duration.
     *
     * @return null when the text is no duration; a duration longer than {@link Duration} allows has the most seconds it allows
     */
    static @Nullable Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        BigDecimal sum = BigDecimal.ZERO;
        int end = 0;
        try {
            for (Matcher span = SPAN.matcher(text); span.find(); end = span.end()) {
                sum = sum.add(seconds(span.group(1), span.group(2), span.group(3)));
            }
        } catch (ArithmeticException | NumberFormatException notOfThatLibrary) {
            return null;
        }
        if (end == 0 || end < text.length()) {
            return null;
        }
        long nanos = sum.remainder(BigDecimal.ONE).movePointRight(NANOSECONDS).longValue();
        return Duration.ofSeconds(sum.min(LONGEST).longValue(), nanos);
    }

    private static BigDecimal seconds(String whole, @Nullable String fraction, String name) {
        Unit unit = UNITS.get(name);
        if (unit == null) {
            throw new NumberFormatException("unknown unit");
        }
        BigDecimal count = new BigDecimal(Long.toUnsignedString(Long.parseUnsignedLong(digits(whole))));
        if (fraction == null) {
            return count.multiply(unit.seconds);
        }
        String decimals = digits(fraction);
        boolean isOneNanosecond = unit.seconds.scale() == NANOSECONDS;
        if (decimals.isEmpty() || decimals.length() > MOST_DECIMALS || isOneNanosecond) {
            throw new NumberFormatException("not a fraction of that library");
        }
        BigDecimal part = new BigDecimal("0." + decimals).multiply(unit.seconds);
        return count.multiply(unit.seconds).add(part.setScale(unit.decimals, RoundingMode.UNNECESSARY));
    }

    private static String digits(String number) {
        return SPACES.matcher(number).replaceAll("");
    }
}
