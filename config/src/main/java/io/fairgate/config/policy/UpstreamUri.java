package io.fairgate.config.policy;

import io.fairgate.config.yaml.Value;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the URIs of upstreams. */
final class UpstreamUri {

    /** {@code no} is for routes that answer by themselves, for instance with a redirect. */
    static final String NO = "no";

    private static final Set<String> SCHEMES = Set.of("http", "https", "ws", "wss");

    /** Up to the last {@code @}: what a mistake must not show. */
    private static final Pattern CREDENTIALS = Pattern.compile("(?s)^(\"?([a-zA-Z][a-zA-Z0-9+.-]*:/{1,2})?).*@");

    private static final int MOST_PORT = 65_535;

    private UpstreamUri() {}

    /**
     * Scheme, host and port of a URI. Spring Cloud Gateway would ignore credentials and a path, and fail at the first request with a
     * URI that it cannot use.
     *
     * @param mayBeNone whether the scheme may be {@link #NO}
     * @return null after a mistake
     */
    static @Nullable URI read(Value value, String text, boolean mayBeNone) {
        if (text.contains("@")) {
            value.mistake(
                    CREDENTIALS.matcher(value.shown()).replaceFirst("$1***@"),
                    "a URI without credentials, which would not be sent; the filter SetRequestHeader=Authorization,... sends some");
            return null;
        }
        try {
            URI uri = new URI(text);
            String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
            if (scheme.equals(Destination.UPSTREAM)) {
                value.mistake("upstream: and the name, in the place of uri");
                return null;
            }
            boolean isKnown = SCHEMES.contains(scheme) || (mayBeNone && scheme.equals(NO));
            if (!isKnown || uri.getHost() == null) {
                value.mistake("a URI with http, https, ws or wss and a host, such as http://localhost:9000");
            } else if (uri.getPort() == 0 || uri.getPort() > MOST_PORT) {
                value.mistake("a URI with a port of 1 to " + MOST_PORT);
            } else if (!Set.of("", "/").contains(String.valueOf(uri.getRawPath())) || uri.getRawQuery() != null) {
                value.mistake("a URI without a path, which would be ignored; the filter PrefixPath adds one");
            } else {
                return new URI(scheme, null, uri.getHost(), uri.getPort(), null, null, null);
            }
        } catch (URISyntaxException e) {
            value.mistake("a URI such as http://localhost:9000");
        }
        return null;
    }
}
