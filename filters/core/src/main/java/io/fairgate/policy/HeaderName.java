package io.fairgate.policy;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The name of an HTTP header (RFC 9110, 5.1) that may carry a credential or a tenant's id. */
final class HeaderName {

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");

    /** Headers that frame or route a message: changing them would break the connection. */
    private static final Set<String> OF_THE_MESSAGE = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    private HeaderName() {}

    /**
     * Checks a name, and returns it.
     *
     * @param key the configuration key, for the error message
     * @throws IllegalArgumentException when it is not the name of a header, or of a header that HTTP itself needs
     */
    static String checked(String key, String name) {
        if (!TOKEN.matcher(name).matches()) {
            throw new IllegalArgumentException("%s: %s (expected: the name of an HTTP header)".formatted(key, name));
        }
        if (OF_THE_MESSAGE.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: a header that HTTP itself does not need)".formatted(key, name));
        }
        return name;
    }
}
