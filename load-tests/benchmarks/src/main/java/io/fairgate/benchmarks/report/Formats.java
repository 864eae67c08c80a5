package io.fairgate.benchmarks.report;

import java.util.Locale;
import java.util.regex.Pattern;

/** The form of numbers and paragraphs in the reports. */
public final class Formats {

    private static final int COLUMNS = 120;
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private Formats() {}

    /** Formats with points in decimal numbers, whatever the language of the machine is. */
    public static String number(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    public static String time(double nanos) {
        if (nanos >= 1e6) {
            return number(nanos < 1e7 ? "%.1f ms" : "%.0f ms", nanos / 1e6);
        }
        if (nanos >= 1e4) {
            return number("%.0f µs", nanos / 1e3);
        }
        return number(nanos < 100 ? "%.1f ns" : "%.0f ns", nanos);
    }

    /** The median, with the lowest and the highest. */
    public static String ratio(Spread ratios) {
        return number("**%.2f** (%.2f to %.2f)", ratios.median(), ratios.least(), ratios.most());
    }

    /** Whether a target is met. */
    public static String verdict(boolean holds) {
        return holds ? "yes" : "**no**";
    }

    /** A paragraph in lines that are not too long; all lines but the first are indented. */
    public static String wrapped(String text, String indent) {
        StringBuilder done = new StringBuilder();
        String line = "";
        for (String word : BLANKS.splitAsStream(text).toList()) {
            String longer = line.isBlank() ? line + word : line + " " + word;
            if (longer.length() > COLUMNS) {
                done.append(line).append('\n');
                longer = indent + word;
            }
            line = longer;
        }
        return done.append(line).append('\n').toString();
    }
}
