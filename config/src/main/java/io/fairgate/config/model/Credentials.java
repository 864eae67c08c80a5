package io.fairgate.config.model;

import java.util.regex.Pattern;

/** Hides credentials in what is printed. */
final class Credentials {

    /** Up to the last {@code @} that may belong to a URI. */
    private static final Pattern IN_URI = Pattern.compile("://\\S*@");

    private Credentials() {}

    static String hidden(String text) {
        return text.contains("://") ? IN_URI.matcher(text).replaceAll("://***@") : text;
    }
}
