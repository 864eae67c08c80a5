package io.fairgate.spring.forward;

import io.fairgate.spring.proxy.ForwardedFields;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.spring.settings.FairgateProperties.Forwarding;
import io.fairgate.spring.upstream.LiveUpstream;
import io.fairgate.spring.upstream.Upstreams;
import io.fairgate.upstream.Instance;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.cloud.gateway.filter.headers.RemoveHopByHopHeadersFilter;
import org.springframework.cloud.gateway.route.Route;
import reactor.netty.http.client.HttpClient;

/**
 * Finds the routes whose requests can be forwarded directly: those to an HTTP upstream, all of whose filters this
 * package knows. Every other filter could see or change what the direct way leaves out, so its routes stay with Spring
 * Cloud Gateway's chain of filters.
 */
final class DirectRoutes {

    private static final String GATEWAY = "org.springframework.cloud.gateway.";

    /** Global filters that do nothing for a request that is forwarded directly, or that the direct way replaces. */
    private static final Set<String> GLOBAL_FILTERS = Set.of(
            GATEWAY + "config.GatewayNoLoadBalancerClientAutoConfiguration$NoLoadBalancerClientFilter",
            GATEWAY + "filter.AdaptCachedBodyGlobalFilter",
            GATEWAY + "filter.ForwardPathFilter",
            GATEWAY + "filter.ForwardRoutingFilter",
            GATEWAY + "filter.FunctionRoutingFilter",
            GATEWAY + "filter.LoadBalancerServiceInstanceCookieFilter",
            GATEWAY + "filter.NettyRoutingFilter",
            GATEWAY + "filter.NettyWriteResponseFilter",
            GATEWAY + "filter.ReactiveLoadBalancerClientFilter",
            GATEWAY + "filter.RemoveCachedBodyFilter",
            GATEWAY + "filter.RouteToRequestUrlFilter",
            GATEWAY + "filter.StreamRoutingFilter",
            GATEWAY + "filter.WebsocketRoutingFilter",
            "io.fairgate.spring.admission.Admission",
            "io.fairgate.spring.fairshare.CachedBodyFilter",
            "io.fairgate.spring.forward.ResponseConnectionFilter",
            "io.fairgate.spring.forward.ResponseTimeoutFilter",
            "io.fairgate.spring.upstream.UpstreamFilter",
            "io.fairgate.spring.websocket.HandshakeFilter",
            "io.fairgate.spring.websocket.TunnelFilter");

    /** Filters of headers whose work {@link UpstreamHeaders} does. */
    private static final Set<String> HEADERS_FILTERS = Set.of(
            GATEWAY + "filter.headers.GRPCRequestHeadersFilter",
            GATEWAY + "filter.headers.GRPCResponseHeadersFilter",
            GATEWAY + "filter.headers.RemoveForwardedHeadersFilter",
            GATEWAY + "filter.headers.RemoveHopByHopHeadersFilter",
            GATEWAY + "filter.headers.RemoveXForwardedHeadersFilter",
            GATEWAY + "filter.headers.TransferEncodingNormalizationHeadersFilter",
            "io.fairgate.spring.identity.UpstreamIdentity");

    /** Those of them whose work is always done, so that they must not be switched off. */
    private static final Set<String> REQUIRED_HEADERS_FILTERS = Set.of(
            GATEWAY + "filter.headers.RemoveForwardedHeadersFilter",
            GATEWAY + "filter.headers.RemoveHopByHopHeadersFilter",
            GATEWAY + "filter.headers.RemoveXForwardedHeadersFilter");

    private final @Nullable String whyNone;
    private final Upstreams upstreams;
    private final UpstreamHeaders headers;
    private final RouteMeters meters;
    private final HttpClient client;
    private final HttpClientProperties clientProperties;
    private final GatewayProperties properties;
    private final Map<String, Found> known = new ConcurrentHashMap<>();

    /** @param direct null if the route is not direct */
    private record Found(
            Route route,
            @Nullable DirectRoute direct,
            @Nullable String why) {}

    DirectRoutes(
            List<GlobalFilter> globalFilters,
            List<HttpHeadersFilter> headersFilters,
            RouteMeters meters,
            HttpClient client,
            HttpClientProperties clientProperties,
            GatewayProperties properties,
            Forwarding forwarding,
            ForwardedFields forwarded,
            Upstreams upstreams) {
        this.upstreams = upstreams;
        this.meters = meters;
        this.client = client;
        this.clientProperties = clientProperties;
        this.properties = properties;
        this.whyNone = forwarding == Forwarding.FILTER_CHAIN
                ? "fairgate.forwarding is filter-chain"
                : whyNone(globalFilters, headersFilters);
        this.headers = new UpstreamHeaders(
                headersFilters.stream()
                        .filter(RemoveHopByHopHeadersFilter.class::isInstance)
                        .map(RemoveHopByHopHeadersFilter.class::cast)
                        .map(RemoveHopByHopHeadersFilter::getHeaders)
                        .findFirst()
                        .orElse(Set.of()),
                forwarded);
    }

    private static @Nullable String whyNone(List<GlobalFilter> globalFilters, List<HttpHeadersFilter> headersFilters) {
        String unknown = firstUnknown(globalFilters, GLOBAL_FILTERS);
        if (unknown != null) {
            return "the global filter " + unknown;
        }
        unknown = firstUnknown(headersFilters, HEADERS_FILTERS);
        if (unknown != null) {
            return "the filter of headers " + unknown;
        }
        List<String> present = names(headersFilters).toList();
        return REQUIRED_HEADERS_FILTERS.stream()
                .filter(required -> !present.contains(required))
                .findFirst()
                .map(missing -> missing + " is switched off")
                .orElse(null);
    }

    private static @Nullable String firstUnknown(List<?> filters, Set<String> known) {
        return names(filters).filter(name -> !known.contains(name)).findFirst().orElse(null);
    }

    /** By the name of the exact class: a subclass, or a proxy, may do something else. */
    private static Stream<String> names(List<?> filters) {
        return filters.stream().map(filter -> filter.getClass().getName());
    }

    /** The direct way of a route; null when its requests must pass all filters. */
    @Nullable
    DirectRoute of(Route route) {
        return find(route).direct;
    }

    /** Why the requests of a route must pass all filters; null when they need not. */
    @Nullable
    String whyNot(Route route) {
        return find(route).why;
    }

    @SuppressWarnings("ReferenceEquality") // An equal route of another instance is only prepared again.
    private Found find(Route route) {
        Found found = known.get(route.getId());
        if (found == null || found.route != route) {
            found = prepare(route);
            known.put(route.getId(), found);
        }
        return found;
    }

    private Found prepare(Route route) {
        LiveUpstream several = Upstreams.isNamedBy(route.getUri()) ? upstreams.of(route.getUri()) : null;
        String why = whyNot(route.getUri(), several, route.getFilters());
        if (why == null) {
            try {
                return new Found(
                        route,
                        new DirectRoute(route, several, headers, meters, client, clientProperties, properties),
                        null);
            } catch (NumberFormatException e) {
                why = "its metadata: " + e.getMessage();
            }
        }
        return new Found(route, null, why);
    }

    private @Nullable String whyNot(URI to, @Nullable LiveUpstream several, List<GatewayFilter> filters) {
        if (whyNone != null) {
            return whyNone;
        }
        if (several == null && !Instance.isSecure(to) && !hasScheme(to, "http", "ws")) {
            return "its URI is not http or https";
        }
        if (several == null && to.getHost() == null) {
            return "its URI has no valid host";
        }
        return filters.stream()
                .filter(filter -> !RouteFilters.isKnown(filter))
                .findFirst()
                .map(filter -> "the filter " + RouteFilters.name(filter))
                .orElse(null);
    }

    private static boolean hasScheme(URI to, String one, String other) {
        return one.equalsIgnoreCase(to.getScheme()) || other.equalsIgnoreCase(to.getScheme());
    }

    /** Forgets all routes, because they may have changed. */
    void forget() {
        known.clear();
    }
}
