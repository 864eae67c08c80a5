package io.fairgate.gateway.throttle;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Durations in the format of Rust's humantime library (2.3): {@code 2h 37min}, {@code 1m40s}, {@code 1.5h}.
 *
 * <p>It accepts exactly what that library accepts, so that the same requests fail. Spaces are allowed everywhere except within
 * a unit; a unit may occur twice; numbers are unsigned 64-bit; a fraction must result in whole nanoseconds, or in whole
 * seconds for hours and longer units.
 */
final class HumanDuration {

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** A count of nanoseconds or seconds. Its fractions count in nanoseconds if {@code fractionNanos > 0}, else in seconds. */
    private record Unit(boolean inNanos, long count, long fractionNanos) {
        static Unit nanos(long count) {
            return new Unit(true, count, count);
        }

        static Unit seconds(long count) {
            return new Unit(false, count, count <= 60 ? count * NANOS_PER_SECOND : 0);
        }
    }

    private static final Map<String, Unit> UNITS = Map.ofEntries(
            Map.entry("ns", Unit.nanos(1)),
            Map.entry("nsec", Unit.nanos(1)),
            Map.entry("nanos", Unit.nanos(1)),
            Map.entry("us", Unit.nanos(1_000)),
            Map.entry("usec", Unit.nanos(1_000)),
            Map.entry("µs", Unit.nanos(1_000)),
            Map.entry("ms", Unit.nanos(1_000_000)),
            Map.entry("msec", Unit.nanos(1_000_000)),
            Map.entry("millis", Unit.nanos(1_000_000)),
            Map.entry("s", Unit.seconds(1)),
            Map.entry("sec", Unit.seconds(1)),
            Map.entry("secs", Unit.seconds(1)),
            Map.entry("second", Unit.seconds(1)),
            Map.entry("seconds", Unit.seconds(1)),
            Map.entry("m", Unit.seconds(60)),
            Map.entry("min", Unit.seconds(60)),
            Map.entry("mins", Unit.seconds(60)),
            Map.entry("minute", Unit.seconds(60)),
            Map.entry("minutes", Unit.seconds(60)),
            Map.entry("h", Unit.seconds(3_600)),
            Map.entry("hr", Unit.seconds(3_600)),
            Map.entry("hrs", Unit.seconds(3_600)),
            Map.entry("hour", Unit.seconds(3_600)),
            Map.entry("hours", Unit.seconds(3_600)),
            Map.entry("d", Unit.seconds(86_400)),
            Map.entry("day", Unit.seconds(86_400)),
            Map.entry("days", Unit.seconds(86_400)),
            Map.entry("w", Unit.seconds(604_800)),
            Map.entry("wk", Unit.seconds(604_800)),
            Map.entry("wks", Unit.seconds(604_800)),
            Map.entry("week", Unit.seconds(604_800)),
            Map.entry("weeks", Unit.seconds(604_800)),
            Map.entry("M", Unit.seconds(2_630_016)),
            Map.entry("month", Unit.seconds(2_630_016)),
            Map.entry("months", Unit.seconds(2_630_016)),
            Map.entry("y", Unit.seconds(31_557_600)),
            Map.entry("yr", Unit.seconds(31_557_600)),
            Map.entry("yrs", Unit.seconds(31_557_600)),
            Map.entry("year", Unit.seconds(31_557_600)),
            Map.entry("years", Unit.seconds(31_557_600)));

    private final String text;
    private int at;
    private long seconds;
    private long nanos;

    private HumanDuration(String text) {
        this.text = text;
    }

    /**
     * Reads a duration.
     *
     * @return null when the text is no duration; a duration longer than {@link Duration} allows has the most seconds it allows
     */
    static @Nullable Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        try {
            return new HumanDuration(text).spans();
        } catch (ArithmeticException overflow) {
            return null;
        }
    }

    private @Nullable Duration spans() {
        skipSpace();
        if (at == text.length()) {
            return null;
        }
        while (at < text.length()) {
            if (!span()) {
                return null;
            }
            skipSpace();
        }
        return Duration.ofSeconds(seconds < 0 ? Long.MAX_VALUE : seconds, nanos);
    }

    /** Reads one number with its unit; false when there is none. */
    private boolean span() {
        Digits whole = digits();
        Digits fraction = null;
        if (at < text.length() && text.charAt(at) == '.') {
            at++;
            fraction = digits();
        }
        Unit unit = UNITS.get(letters());
        if (unit == null || whole.isEmpty() || (fraction != null && fraction.isEmpty())) {
            return false;
        }
        long amount = Unsigned.multiply(whole.number(), unit.count());
        add(unit.inNanos() ? 0 : amount, unit.inNanos() ? amount : 0);
        if (fraction != null) {
            addFraction(fraction, unit);
        }
        return true;
    }

    private void addFraction(Digits fraction, Unit unit) {
        long whole = unit.fractionNanos() == 0 ? unit.count() : unit.fractionNanos();
        if (whole == 1) {
            throw new ArithmeticException("less than a nanosecond");
        }
        long part = Unsigned.divideExactly(Unsigned.multiply(fraction.number(), whole), fraction.scale());
        add(unit.fractionNanos() == 0 ? part : 0, unit.fractionNanos() == 0 ? 0 : part);
    }

    private void add(long moreSeconds, long moreNanos) {
        long sum = Unsigned.add(nanos, moreNanos);
        seconds = Unsigned.add(Unsigned.add(seconds, moreSeconds), Long.divideUnsigned(sum, NANOS_PER_SECOND));
        nanos = Long.remainderUnsigned(sum, NANOS_PER_SECOND);
    }

    // ---- characters ----

    /**
     * A sequence of digits, without the spaces between them.
     *
     * @param number their value
     * @param scale of a fraction, ten to the power of their count; of a whole number 10; without digits 1
     */
    private record Digits(long number, long scale) {
        boolean isEmpty() {
            return scale == 1;
        }
    }

    /** The scale is only counted for a fraction, so only a fraction can have too many digits for it. */
    private Digits digits() {
        boolean isFraction = at > 0 && text.charAt(at - 1) == '.';
        long number = 0;
        long scale = 1;
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c >= '0' && c <= '9') {
                number = Unsigned.add(Unsigned.multiply(number, 10), c - '0');
                scale = isFraction ? Unsigned.multiply(scale, 10) : 10;
            } else if (!isSpace(c)) {
                break;
            }
        }
        return new Digits(number, scale);
    }

    private String letters() {
        int from = at;
        while (at < text.length() && isLetter(text.charAt(at))) {
            at++;
        }
        return text.substring(from, at);
    }

    private void skipSpace() {
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == 'µ';
    }

    private static boolean isSpace(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }

    /** Arithmetic on unsigned 64-bit numbers that fails on overflow. */
    private static final class Unsigned {
        private static final long MOST = -1;

        static long add(long one, long other) {
            return Long.compareUnsigned(one, MOST - other) > 0 ? overflow() : one + other;
        }

        static long multiply(long one, long other) {
            boolean fits = other == 0 || Long.compareUnsigned(one, Long.divideUnsigned(MOST, other)) <= 0;
            return fits ? one * other : overflow();
        }

        static long divideExactly(long one, long other) {
            return Long.remainderUnsigned(one, other) == 0 ? Long.divideUnsigned(one, other) : overflow();
        }

        private static long overflow() {
            throw new ArithmeticException("more than 64 bits");
        }
    }
}
