package io.fairgate.boot.lease;

import io.fairgate.client.LeaseClientSettings;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The lease API that the application uses.
 *
 * @param uri the address of the lease API, such as http://127.0.0.1:8000; without it there is no client
 * @param header the name of the header that identifies the tenant
 * @param credential the value of this header, such as an API key; without it no such header is sent
 * @param connections the most connections for calls that wait for permits, and again as many for all other calls
 */
@ConfigurationProperties(LeaseClientProperties.PREFIX)
public record LeaseClientProperties(
        URI uri,
        @DefaultValue("X-Api-Key") String header,
        @Nullable String credential,
        @DefaultValue("32") int connections) {

    static final String PREFIX = "fairgate.lease-client";

    /** @throws IllegalArgumentException naming the property, what was found and what was expected */
    LeaseClientSettings settings() {
        try {
            LeaseClientSettings settings = LeaseClientSettings.at(uri).withConnections(connections);
            return credential == null ? settings : settings.withCredential(header, () -> credential);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + "." + e.getMessage(), e);
        }
    }

    /** Without the credential, which is a secret. */
    @Override
    public String toString() {
        return "%s, %s, %d connections".formatted(uri, credential == null ? "no credential" : header, connections);
    }
}
