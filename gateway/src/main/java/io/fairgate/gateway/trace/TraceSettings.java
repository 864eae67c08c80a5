package io.fairgate.gateway.trace;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code fairgate.tracing}: where spans are sent to.
 *
 * @param endpoint the URL of a collector that takes OTLP over HTTP; null for no traces at all
 * @param sampled the part of the traces that begin here and are sent; a trace that began elsewhere is sent if its first span was
 * @param service the name of this gateway in traces
 */
@ConfigurationProperties(TraceSettings.PREFIX)
public record TraceSettings(
        @Nullable URI endpoint,
        @DefaultValue("1") double sampled,
        @DefaultValue("fairgate") String service) {

    public static final String PREFIX = "fairgate.tracing";

    public TraceSettings {
        if (endpoint != null && !isUrl(endpoint)) {
            throw new IllegalArgumentException(
                    "%s.endpoint: %s (expected: a URL such as http://localhost:4318/v1/traces)"
                            .formatted(PREFIX, endpoint));
        }
        if (!(sampled >= 0 && sampled <= 1)) {
            throw new IllegalArgumentException("%s.sampled: %s (expected: 0 to 1)".formatted(PREFIX, sampled));
        }
        if (service.isBlank()) {
            throw new IllegalArgumentException("%s.service: empty (expected: a name)".formatted(PREFIX));
        }
    }

    private static boolean isUrl(URI uri) {
        boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        // A collector takes spans below a path, and a URL without one is a frequent mistake.
        return isHttp && uri.getHost() != null && uri.getPath().length() > 1;
    }
}
