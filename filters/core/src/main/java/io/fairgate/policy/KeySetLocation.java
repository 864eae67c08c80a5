package io.fairgate.policy;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * The location of an issuer's public keys, a JSON Web Key Set (RFC 7517), and how often to fetch them.
 *
 * @param location an https URL, an http URL with the address of this host, or a file
 * @param refresh how long a key set is used before it is fetched again
 */
public record KeySetLocation(String location, Duration refresh) {

    public static final Duration DEFAULT_REFRESH = Duration.ofMinutes(5);
    public static final Duration MIN_REFRESH = Duration.ofSeconds(10);
    public static final Duration MAX_REFRESH = Duration.ofDays(1);

    private static final String EXPECTED = "an https URL, an http URL with the address of this host, or a file";

    public KeySetLocation {
        if (!isUsable(location)) {
            throw new IllegalArgumentException("jwks: %s (expected: %s)".formatted(location, EXPECTED));
        }
        if (refresh.compareTo(MIN_REFRESH) < 0 || refresh.compareTo(MAX_REFRESH) > 0) {
            throw new IllegalArgumentException("refresh: %s (expected: %ds to %dd)"
                    .formatted(refresh, MIN_REFRESH.toSeconds(), MAX_REFRESH.toDays()));
        }
    }

    /** Whether the location is a URL, and not a file. */
    public boolean isRemote() {
        return hasScheme(location, "https") || hasScheme(location, "http");
    }

    /** The location without the query of a URL, which may be a secret: for logs and meters. */
    public String name() {
        int query = isRemote() ? location.indexOf('?') : -1;
        return query < 0 ? location : location.substring(0, query);
    }

    private static boolean hasScheme(String text, String scheme) {
        return text.toLowerCase(Locale.ROOT).startsWith(scheme + "://");
    }

    private static boolean isUsable(String text) {
        try {
            if (!text.contains("://")) {
                return !Path.of(text).toString().isBlank();
            }
            URI uri = new URI(text);
            String host = uri.getHost();
            boolean plain = hasScheme(text, "http");
            return host != null
                    && uri.getUserInfo() == null
                    && uri.getFragment() == null
                    && (hasScheme(text, "https") || (plain && isLoopback(host)));
        } catch (URISyntaxException | InvalidPathException e) {
            return false;
        }
    }

    /** Only address literals: a name could point to another host tomorrow, and that host would control the keys. */
    private static boolean isLoopback(String host) {
        String literal = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        try {
            return Cidr.parse(literal).network().isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
