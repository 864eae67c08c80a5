package io.fairgate.boot.lease;

import io.fairgate.client.LeaseClientSettings;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The lease API that the application uses.
 *
 * @param uri the address of the lease API, such as http://127.0.0.1:8000; empty for no client
 * @param header the name of the header that identifies the tenant. Default: X-Api-Key
 * @param credential the value of this header, such as an API key; without it, or empty, the header is not sent
 * @param connections the most connections for calls that wait for permits, and again as many for all other calls. Default: 32
 */
@ConfigurationProperties(prefix = LeaseClientProperties.PREFIX, ignoreUnknownFields = false)
public record LeaseClientProperties(
        @Nullable String uri,
        @Nullable String header,
        @Nullable String credential,
        @Nullable Integer connections) {

    static final String PREFIX = "fairgate.lease-client";

    private static final String USUAL_HEADER = "X-Api-Key";

    /** @throws IllegalArgumentException when there are other properties without an address */
    public LeaseClientProperties {
        if (uri == null && (header != null || credential != null || connections != null)) {
            throw new IllegalArgumentException(
                    PREFIX + ".uri: missing (expected: http://HOST:PORT, or empty for no client)");
        }
        if (credential != null && credential.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    PREFIX + ".credential: with a control character (expected: one line of text)");
        }
    }

    /** @throws IllegalArgumentException naming the property, what was found and what was expected */
    LeaseClientSettings settings() {
        try {
            LeaseClientSettings settings = LeaseClientSettings.at(new URI(String.valueOf(uri)));
            if (connections != null) {
                settings = settings.withConnections(connections);
            }
            return credential == null || credential.isBlank()
                    ? settings
                    : settings.withCredential(header == null ? USUAL_HEADER : header, () -> credential);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    PREFIX + ".uri: %s (expected: http://HOST:PORT or https://HOST:PORT)".formatted(uri));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + "." + e.getMessage());
        }
    }

    /** Without the credential, which is a secret. */
    @Override
    public String toString() {
        return "%s, %s".formatted(uri, credential == null ? "no credential" : header);
    }
}
