package io.fairgate.config.policy;

import io.fairgate.config.yaml.Value;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;

/**
 * Checks the {@code uri} of a route. Spring Cloud Gateway uses its scheme, host and port and would ignore a path; a URI
 * that it cannot use would fail only with the first request.
 */
final class UpstreamUri {
    static final String EXPECTED = "where the route leads, such as http://localhost:9000";

    /** {@code no} is for routes that answer by themselves, for instance with a redirect. */
    private static final Set<String> SCHEMES = Set.of("http", "https", "ws", "wss", "no");

    private UpstreamUri() {}

    static void check(Value value) {
        String text = value.text(EXPECTED);
        if (text == null) {
            return;
        }
        try {
            URI uri = new URI(text);
            String scheme = uri.getScheme();
            if (scheme == null || !SCHEMES.contains(scheme.toLowerCase(Locale.ROOT)) || uri.getHost() == null) {
                value.mistake("a URI with http, https, ws or wss and a host, such as http://localhost:9000");
            } else if (!Set.of("", "/").contains(String.valueOf(uri.getRawPath())) || uri.getRawQuery() != null) {
                value.mistake("a URI without a path, which would be ignored; the filter PrefixPath adds one");
            }
        } catch (URISyntaxException e) {
            value.mistake(EXPECTED);
        }
    }
}
