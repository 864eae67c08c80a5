package io.fairgate.upstream;

import java.net.URI;
import java.util.Locale;

/**
 * One instance of an upstream, or all those that its name stands for.
 *
 * @param uri scheme, host and port
 * @param weight how many requests it gets, compared with the other instances
 */
public record Instance(URI uri, int weight) {

    public static final int MAX_WEIGHT = 1000;

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public Instance {
        if (weight < 1 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException("weight: %d (expected: 1 to %d)".formatted(weight, MAX_WEIGHT));
        }
    }

    /** Whether requests are sent over TLS. */
    public boolean isSecure() {
        return isSecure(uri);
    }

    /** Whether requests to this URI are sent over TLS. */
    public static boolean isSecure(URI uri) {
        String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
        return scheme.equals("https") || scheme.equals("wss");
    }
}
