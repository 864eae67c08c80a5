package io.fairgate.gateway.start;

import io.fairgate.spring.settings.DurationSetting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code fairgate.clients}: how the connections of clients are treated.
 *
 * @param headerTime the longest time from the first byte of a request to the end of its headers, on the traffic port and on
 *     the management port; HTTP/1.1 only
 * @param halfClosed what happens to a client that has closed its side of the connection after its request
 */
@ConfigurationProperties(ClientSettings.PREFIX)
record ClientSettings(
        @DefaultValue("10s") DurationSetting headerTime,
        @DefaultValue("serve") OnHalfClose halfClosed) {

    static final String PREFIX = "fairgate.clients";

    /** What happens to a client that has closed its side of the connection after its request. */
    enum OnHalfClose {
        /** It gets its answer, as long as its system does not say that the client has gone. */
        SERVE,
        /** It is taken for a client that has gone. */
        CLOSE
    }

    ClientSettings {
        if (headerTime.value().isZero() || headerTime.value().isNegative()) {
            throw new IllegalArgumentException(
                    "%s.header-time: %s (expected: > 0)".formatted(PREFIX, headerTime.value()));
        }
    }
}
