package io.fairgate.spring.forward;

import java.util.Locale;

/** Names of tests that contain bytes of HTTP. */
final class Printable {

    private static final int LONGEST = 80;

    private Printable() {}

    static String of(String text) {
        StringBuilder printable = new StringBuilder();
        text.chars()
                .limit(LONGEST)
                .forEach(c -> printable.append(
                        c < ' ' || c > '~' ? String.format(Locale.ROOT, "\\x%02x", c) : Character.toString(c)));
        return printable.toString();
    }
}
