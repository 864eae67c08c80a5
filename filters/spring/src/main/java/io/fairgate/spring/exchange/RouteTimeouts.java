package io.fairgate.spring.exchange;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.RouteMetadataUtils;

/** The time-outs of the HTTP client for one route: those in its metadata, otherwise those of all routes. */
public final class RouteTimeouts {

    private RouteTimeouts() {}

    /**
     * How long a connection may take, in milliseconds; null for Netty's own limit.
     *
     * @throws NumberFormatException when it is not a number
     */
    public static @Nullable Integer connect(Route route, HttpClientProperties properties) {
        Object ofRoute = route.getMetadata().get(RouteMetadataUtils.CONNECT_TIMEOUT_ATTR);
        return ofRoute == null ? properties.getConnectTimeout() : Integer.valueOf(ofRoute.toString());
    }

    /**
     * How long a response may take; null for no limit. A negative number in the metadata switches it off.
     *
     * @throws NumberFormatException when it is not a number
     */
    public static @Nullable Duration response(Route route, HttpClientProperties properties) {
        Object ofRoute = route.getMetadata().get(RouteMetadataUtils.RESPONSE_TIMEOUT_ATTR);
        if (ofRoute == null) {
            return route.getMetadata().containsKey(RouteMetadataUtils.RESPONSE_TIMEOUT_ATTR)
                    ? null
                    : properties.getResponseTimeout();
        }
        long millis = ofRoute instanceof Number number ? number.longValue() : Long.parseLong(ofRoute.toString());
        return millis < 0 ? null : Duration.ofMillis(millis);
    }
}
