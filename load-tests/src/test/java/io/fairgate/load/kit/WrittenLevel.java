package io.fairgate.load.kit;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A level in percent, or two: {@code 100} or {@code 0 to 100}. */
record WrittenLevel(double from, double to) {

    private static final Pattern LEVEL = Pattern.compile("(\\d{1,5})(?:\\s*to\\s*(\\d{1,5}))?");

    static WrittenLevel of(String text) {
        Matcher matcher = LEVEL.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a percentage of the load, such as 100, or two, such as 0 to 100");
        }
        double from = Double.parseDouble(matcher.group(1));
        return new WrittenLevel(from, matcher.group(2) == null ? from : Double.parseDouble(matcher.group(2)));
    }
}
