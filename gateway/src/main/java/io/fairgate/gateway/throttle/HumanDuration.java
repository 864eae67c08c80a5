package io.fairgate.gateway.throttle;

import java.time.Duration;
import java.util.HashMap;
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
    private static final long MINUTE = 60;
    private static final int MOST_DECIMALS = 19;
    private static final long MOST = -1; // unsigned

    /** A count of nanoseconds or seconds. */
    private record Unit(boolean inNanos, long count) {

        /** In nanoseconds if they have fractions of them, which units from an hour on do not. */
        private Unit ofFraction() {
            return inNanos || count > MINUTE ? this : new Unit(true, count * NANOS_PER_SECOND);
        }
    }

    private static final Map<String, Unit> UNITS = new HashMap<>();

    static {
        unit(true, 1, "ns nsec nanos");
        unit(true, 1_000, "us usec µs");
        unit(true, 1_000_000, "ms msec millis");
        unit(false, 1, "s sec secs second seconds");
        unit(false, MINUTE, "m min mins minute minutes");
        unit(false, 3_600, "h hr hrs hour hours");
        unit(false, 86_400, "d day days");
        unit(false, 604_800, "w wk wks week weeks");
        unit(false, 2_630_016, "M month months");
        unit(false, 31_557_600, "y yr yrs year years");
    }

    private static void unit(boolean inNanos, long count, String names) {
        for (String name : names.split(" ", -1)) {
            UNITS.put(name, new Unit(inNanos, count));
        }
    }

    private final String text;
    private int at;
    private int digits;
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
        HumanDuration sum = new HumanDuration(text);
        try {
            do {
                sum.span();
            } while (sum.at < text.length());
        } catch (ArithmeticException notOfThatLibrary) {
            return null;
        }
        return Duration.ofSeconds(sum.seconds < 0 ? Long.MAX_VALUE : sum.seconds, sum.nanos);
    }

    /** Reads a number with its unit, and the space after it. */
    private void span() {
        long whole = number();
        boolean hasFraction = at < text.length() && text.charAt(at) == '.';
        at += hasFraction ? 1 : 0;
        long fraction = hasFraction ? number() : 0;
        Unit unit = UNITS.get(letters());
        if (unit == null) {
            throw new ArithmeticException("unknown unit");
        }
        add(multiplied(whole, unit.count), unit);
        if (hasFraction) {
            Unit part = unit.ofFraction();
            require(part.count != 1 && digits <= MOST_DECIMALS);
            long scaled = multiplied(fraction, part.count);
            long scale = Long.parseUnsignedLong("1" + "0".repeat(digits));
            require(Long.remainderUnsigned(scaled, scale) == 0);
            add(Long.divideUnsigned(scaled, scale), part);
        }
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
    }

    private void add(long amount, Unit unit) {
        long sum = added(nanos, unit.inNanos ? amount : 0);
        seconds = added(added(seconds, unit.inNanos ? 0 : amount), Long.divideUnsigned(sum, NANOS_PER_SECOND));
        nanos = Long.remainderUnsigned(sum, NANOS_PER_SECOND);
    }

    // ---- characters ----

    /** Reads digits, with space around them, and counts them. */
    private long number() {
        long number = 0;
        for (digits = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c >= '0' && c <= '9') {
                number = added(multiplied(number, 10), c - '0');
                digits++;
            } else if (!isSpace(c)) {
                break;
            }
        }
        require(digits > 0);
        return number;
    }

    private String letters() {
        int from = at;
        while (at < text.length() && Character.isAlphabetic(text.charAt(at))) {
            at++;
        }
        return text.substring(from, at);
    }

    private static boolean isSpace(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }

    // ---- unsigned numbers of 64 bits ----

    private static long added(long one, long other) {
        require(Long.compareUnsigned(one, MOST - other) <= 0);
        return one + other;
    }

    private static long multiplied(long one, long other) {
        require(Long.compareUnsigned(one, Long.divideUnsigned(MOST, other)) <= 0);
        return one * other;
    }

    private static void require(boolean fits) {
        if (!fits) {
            throw new ArithmeticException("not a duration, or more than 64 bits");
        }
    }
}
