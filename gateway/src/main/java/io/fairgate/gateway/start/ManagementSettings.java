package io.fairgate.gateway.start;

import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code fairgate.management}: who may use the management port, and what it serves beside the endpoints.
 *
 * @param hosts names that requests may have in {@code Host}, besides those that {@link ManagementRequests} always allows; {@code *}
 *     for all
 * @param page whether it serves the operator's page
 */
@ConfigurationProperties(ManagementSettings.PREFIX)
record ManagementSettings(
        @DefaultValue List<String> hosts,
        @DefaultValue("true") boolean page) {

    static final String PREFIX = "fairgate.management";

    ManagementSettings {
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).toList();
        for (String host : hosts) {
            if (!host.matches("\\*|[a-z0-9._-]+")) {
                throw new IllegalArgumentException(
                        "%s.hosts: %s (expected: names without a port, or *)".formatted(PREFIX, host));
            }
        }
    }
}
