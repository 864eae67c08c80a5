package io.fairgate.spring.exchange;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whole numbers in fields of a header, where anybody may have written anything. */
public final class WholeNumber {

    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    /** As many digits as always fit into a long. */
    private static final int FIT = 18;

    private WholeNumber() {}

    /** Null for what is none: a sign, a fraction or an exponent makes it another kind. What is too large is the largest. */
    public static @Nullable Long of(String text) {
        String stripped = text.strip();
        if (!DIGITS.matcher(stripped).matches()) {
            return null;
        }
        int begin = 0;
        while (begin < stripped.length() && stripped.charAt(begin) == '0') {
            begin++;
        }
        String digits = stripped.substring(begin);
        if (digits.length() > FIT) {
            return Long.MAX_VALUE;
        }
        return digits.isEmpty() ? 0L : Long.parseLong(digits);
    }

    /**
     * The largest in all lines of a field, whose items are separated by commas; null when there is none. A second one does
     * not spoil the first: then whoever can add a line could have what the other one says ignored.
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
