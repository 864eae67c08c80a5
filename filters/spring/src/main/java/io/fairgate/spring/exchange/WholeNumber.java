package io.fairgate.spring.exchange;

import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads whole numbers in header fields, which may hold any text. */
public final class WholeNumber {

    private static final Pattern NUMBER = Pattern.compile("0*([0-9]+)");
    /** The number of digits that always fits into a long. */
    private static final int FIT = 18;

    private WholeNumber() {}

    /**
     * The number; null when the text is not a whole number, for instance because it has a sign, a fraction or an
     * exponent. A number of more than 18 digits is read as {@link Long#MAX_VALUE}.
     */
    public static @Nullable Long of(String text) {
        Matcher number = NUMBER.matcher(text.strip());
        if (!number.matches()) {
            return null;
        }
        String digits = Objects.requireNonNull(number.group(1));
        return digits.length() > FIT ? Long.MAX_VALUE : Long.parseLong(digits);
    }

    /**
     * The largest number in all lines of a field, whose items are separated by commas; null when there is none. A
     * second number does not make the field invalid: an added line could make the gateway ignore the first.
     */
    public static @Nullable Long largest(List<String> lines) {
        Long largest = null;
        for (String line : lines) {
            for (String item : line.split(",", -1)) {
                Long number = of(item);
                if (number != null && (largest == null || number > largest)) {
                    largest = number;
                }
            }
        }
        return largest;
    }
}
